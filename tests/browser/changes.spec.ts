/** `onDidChange`: which packages an install has changed, told to those who watch. */
import type { Project, ProjectChange } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';

test('what is added, removed and replaced is told in this tab and in others; nothing is told of nothing', async ({
  blank,
  fixtures,
  context,
  site,
}) => {
  const other = await context.newPage();
  await other.goto(`${site.url}/pages/blank.html`);
  // Another tab, which has no store open.
  await inPage(other, async ({ watchProject }) => {
    const told: ProjectChange[] = [];
    Object.assign(globalThis, { told, stop: watchProject((change) => told.push(change)) });
  });
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      let gantry = await Gantry.open({ registry });
      const told: ProjectChange[] = [];
      const install = (dependencies: Record<string, string>, project = 'default') =>
        gantry.install({ project, packageJson: { name: 'p', version: '1.0.0', dependencies } });
      const returned = [];
      const first: Project = await install({ left: '1.0.0' });
      returned.push(first.changes);
      // Until the store is closed.
      first.onDidChange((change) => told.push(change));
      returned.push((await install({ left: '1.0.0', executable: '1.0.0' })).changes);
      returned.push((await install({ left: '1.0.0', executable: '1.0.0' })).changes);
      returned.push((await install({ left: '1.1.0', executable: '1.0.0' })).changes);
      // Of another project nothing is told.
      await install({ right: '1.0.0' }, 'other');
      await gantry.close();
      // Also where the project of before was not opened by this coordinator.
      gantry = await Gantry.open({ registry, timeout: 20_000 });
      const reopened = await gantry.project();
      const stop = reopened?.onDidChange((change) => told.push(change));
      returned.push((await install({ right: '1.0.0' })).changes, (await gantry.project())?.changes);
      const deadline = performance.now() + 10_000;
      while (told.length < 3 && performance.now() < deadline) await new Promise((resume) => setTimeout(resume, 10));
      stop?.();
      await install({ left: '1.0.0' });
      await gantry.close();
      return { told, returned };
    },
    fixtures.url,
  );
  const none = { added: [], removed: [], replaced: [] };
  const added = { ...none, added: ['node_modules/executable'] };
  const replaced = { ...none, replaced: ['node_modules/left'] };
  expect(result.returned).toEqual([
    { ...none, added: ['node_modules/left'] },
    added,
    none,
    replaced,
    { added: ['node_modules/right'], removed: ['node_modules/executable'], replaced: expect.any(Array) },
    none,
  ]);
  const last = result.returned[4];
  const named = (changes: object | undefined) => ({ project: 'default', ...changes });
  const expected = [added, replaced, last].map(named);
  expect(result.told).toEqual(expected);
  await expect
    .poll(() => other.evaluate(() => (globalThis as unknown as { told: unknown[] }).told.length))
    .toBe(expected.length + 2);
  const elsewhere = await other.evaluate(() => (globalThis as unknown as { told: unknown[] }).told);
  expect(elsewhere.slice(1, -1)).toEqual(expected);
  expect(elsewhere.at(-1)).toMatchObject({ removed: ['node_modules/right'] });
});

test('what a late announcement tells is told to those who do not know it, whatever the clocks of pages say', async ({
  blank,
  fixtures,
  context,
  site,
}) => {
  // An hour ahead of the workers, as after a sleep in which their clocks stood still; the other page an hour behind.
  const shift = (hours: number) => {
    const { now } = performance;
    performance.now = () => now.call(performance) + hours * 3_600_000;
  };
  await blank.evaluate(shift, 1);
  const other = await context.newPage();
  await other.goto(`${site.url}/pages/blank.html`);
  await other.evaluate(shift, -1);
  await inPage(other, async ({ watchProject }) => {
    const told: ProjectChange[] = [];
    const messages: unknown[] = [];
    new BroadcastChannel('gantry-changes:gantry').onmessage = ({ data }) => messages.push(data);
    watchProject((change) => told.push(change));
    Object.assign(globalThis, { told, messages });
  });
  const elsewhere = (name: string) =>
    other.evaluate((name) => (globalThis as unknown as Record<string, unknown[]>)[name] ?? [], name);
  await inPage(
    blank,
    async ({ Gantry, watchProject }, registry) => {
      const gantry = await Gantry.open({ registry });
      const install = (version: string) => gantry.install({ packageJson: { dependencies: { left: version } } });
      const project = await install('1.0.0');
      const told: [string, ProjectChange][] = [];
      project.onDidChange((change) => told.push(['project', change]));
      watchProject((change) => told.push(['watched', change]));
      Object.assign(globalThis, { gantry, install, told });
    },
    fixtures.url,
  );
  await expect.poll(() => elsewhere('messages')).toHaveLength(1);
  // As if it had not come round yet when they began to watch.
  await other.evaluate(() => {
    const { messages } = globalThis as unknown as { messages: unknown[] };
    new BroadcastChannel('gantry-changes:gantry').postMessage(messages[0]);
  });
  await expect.poll(() => elsewhere('told')).toHaveLength(2);
  await blank.evaluate(async () => {
    const { install, gantry } = globalThis as unknown as {
      install(version: string): Promise<unknown>;
      gantry: { close(): Promise<void> };
    };
    await install('1.1.0');
    await gantry.close();
  });
  const change = { project: 'default', added: [], removed: [], replaced: ['node_modules/left'] };
  const told = () => blank.evaluate(() => (globalThis as unknown as { told: [string, ProjectChange][] }).told);
  await expect
    .poll(async () => (await told()).sort())
    .toEqual([
      ['project', change],
      ['watched', change],
    ]);
  await expect.poll(() => elsewhere('told')).toHaveLength(3);
  expect((await elsewhere('told')).at(-1)).toEqual(change);
});

test('once its store is closed, a project tells of nothing any more', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry, watchProject }, registry) => {
      const open: BroadcastChannel[] = [];
      globalThis.BroadcastChannel = class extends BroadcastChannel {
        constructor(name: string) {
          super(name);
          open.push(this);
        }

        override close(): void {
          open.splice(open.indexOf(this), 1);
          super.close();
        }
      };
      const gantry = await Gantry.open({ registry });
      const install = (from: typeof gantry, version: string) =>
        from.install({ packageJson: { dependencies: { left: version } } });
      const project = await install(gantry, '1.0.0');
      const told: string[] = [];
      const stop = project.onDidChange(() => told.push('by the project'));
      const channels = [open.length];
      await gantry.close();
      project.onDidChange(() => told.push('by the closed project'));
      channels.push(open.length);
      stop();
      const other = await Gantry.open({ registry, timeout: 20_000 });
      // Announcements come in their order, to whoever listens.
      const heard = new Promise((resolve) => watchProject(resolve));
      await install(other, '1.1.0');
      await heard;
      await other.close();
      return { told, channels };
    },
    fixtures.url,
  );
  expect(result).toEqual({ told: [], channels: [1, 0] });
});

test('a lock that is another one beside the same packages is told of without folders, and is what others read then', async ({
  blank,
  fixtures,
  context,
  site,
}) => {
  const install = (options: object) =>
    inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, ...options } = JSON.parse(argument);
        const gantry = await Gantry.open({ registry, timeout: 20_000 });
        const { changes, lockfile } = await gantry.install(options);
        await gantry.close();
        return { changes, lockfile };
      },
      JSON.stringify({ registry: fixtures.url, ...options }),
    );
  const dependencies = { left: '1.0.0' };
  await install({ packageJson: { dependencies } });
  const other = await context.newPage();
  await other.goto(`${site.url}/pages/blank.html`);
  // Has the store open all the time, and reads beside it by itself.
  await inPage(
    other,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, timeout: 20_000 });
      const project = (await gantry.project()) as Project;
      const heard: object[] = [];
      const look = async (change?: ProjectChange) => {
        const hidden = JSON.parse(await project.fs.readFile('node_modules/.package-lock.json', 'utf8'));
        const isDev = hidden.packages['node_modules/left']?.dev === true;
        heard.push({ change, isDev, lockfile: (await gantry.project())?.lockfile });
      };
      project.onDidChange((change) => void look(change));
      Object.assign(globalThis, { heard, look });
    },
    fixtures.url,
  );
  const script = inWorker(async ({ openProject }) => {
    const project = await openProject();
    const channel = new BroadcastChannel('test');
    const before = project.lockfile;
    const told = new Promise((resolve) => project.onDidChange(resolve));
    channel.postMessage('open');
    await told;
    await project.refresh();
    return [before, project.lockfile];
  });
  const opened = other.evaluate(
    () => new Promise((resolve) => new BroadcastChannel('test').addEventListener('message', resolve, { once: true })),
  );
  const inSync = other.evaluate(evaluateInWorker<string[]>, script);
  await opened;
  const heard = () => other.evaluate(() => (globalThis as unknown as { heard: object[] }).heard);
  const look = () => other.evaluate(() => (globalThis as unknown as { look(): Promise<void> }).look());

  const none = { added: [], removed: [], replaced: [] };
  const change = { project: 'default', ...none };
  const second = await install({ packageJson: { dependencies }, lockfileVersion: 2 });
  expect(second.changes).toEqual(none);
  expect(JSON.parse(second.lockfile)).toMatchObject({ lockfileVersion: 2 });
  await expect.poll(heard).toEqual([{ change, isDev: false, lockfile: second.lockfile }]);
  const [before, after] = await inSync;
  expect(JSON.parse(before as string)).toMatchObject({ lockfileVersion: 3 });
  expect(after).toBe(second.lockfile);

  await look();
  const third = await install({ packageJson: { devDependencies: dependencies } });
  expect(third.changes).toEqual(none);
  await expect.poll(async () => (await heard()).slice(2)).toEqual([{ change, isDev: true, lockfile: third.lockfile }]);
  // Nothing is told of nothing: what is heard next is of the install after it.
  await install({ packageJson: { devDependencies: dependencies } });
  await install({ packageJson: {} });
  const removed = { ...change, removed: ['node_modules/left'] };
  await expect.poll(async () => (await heard()).slice(3)).toMatchObject([{ change: removed }]);
});
