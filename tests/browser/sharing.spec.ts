/** Tabs that have one store open at the same time: each writes in its turn, and all read all the time. */
import type { Page } from '@playwright/test';
import type { Gantry, Project } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import {
  beside,
  besideInstall,
  closeStore,
  hang,
  inFirefox,
  installLeft,
  type Kept,
  NEW,
  OLD,
  openStore,
  prune,
  readLeft,
  type Tab,
  tabOf,
  twoTabs,
} from './support/sharing.js';

/** What can be asked without changing anything. */
const askAll = async () => {
  const { gantry } = globalThis as unknown as Kept;
  const project = (await gantry.project()) as Project;
  const { packages, bytes, files } = await gantry.usage();
  return {
    ...{ packages, bytes, files, projects: await gantry.projects(), lockfile: project.lockfile },
    ...{ installed: project.packages, why: await project.why('left'), digest: await project.treeDigest() },
    unknown: (await gantry.project('unknown')) === undefined,
  };
};

/** Two tabs take turns; neither is closed before the other has what it wants. */
async function takeTurns([first, second]: [Tab, Tab], registry: string): Promise<void> {
  await first.run(openStore, registry);
  expect(await first.run(installLeft, '{"left":"1.0.0"}')).toBe(OLD);
  // Opening takes it from the first, which has nothing to do.
  await second.run(openStore, registry);
  expect(await second.run(readLeft)).toEqual({ text: OLD, names: ['.package-lock.json', 'left'] });
  expect(await first.run(readLeft)).toEqual({ text: OLD, names: ['.package-lock.json', 'left'] });
  expect(await second.run(installLeft, '{"left":"1.1.0","right":"1.0.0"}')).toBe(NEW);
  expect(await first.run(readLeft)).toEqual({ text: NEW, names: ['.bin', '.package-lock.json', 'left', 'right'] });
  for (let turn = 0; turn < 5; turn++) {
    expect(await first.run(installLeft, '{"left":"1.0.0"}')).toBe(OLD);
    expect((await second.run(readLeft)).text).toBe(OLD);
    expect(await second.run(installLeft, '{"left":"1.1.0"}')).toBe(NEW);
    expect((await first.run(readLeft)).text).toBe(NEW);
  }
  // Both at once, again and again.
  const texts = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      (index % 2 ? first : second).run(async (index) => {
        const { gantry } = globalThis as unknown as Kept;
        const dependencies = { left: Number(index) % 2 ? '1.0.0' : '1.1.0' };
        const project = await gantry.install({ project: `own-${index}`, packageJson: { dependencies } });
        return project.fs.readFile('node_modules/left/index.js', 'utf8');
      }, `${index}`),
    ),
  );
  expect(texts).toEqual([NEW, OLD, NEW, OLD, NEW, OLD]);
  const projects = ['default', 'own-0', 'own-1', 'own-2', 'own-3', 'own-4', 'own-5'];
  for (const tab of [first, second]) {
    expect(await tab.run(() => (globalThis as unknown as Kept).gantry.projects())).toEqual(projects);
  }
  // One has the store, the other has its files.
  expect(await first.run(askAll)).toEqual(await second.run(askAll));
  expect(await first.run(closeStore)).toEqual([]);
  expect(await second.run(closeStore)).toEqual([]);
}

test('two tabs that have a store open install in turn, and both read what is there', async ({
  blank,
  fixtures,
  site,
}) => {
  const other = await beside(blank, `${site.url}/pages/blank.html`);
  await takeTurns([tabOf(blank), tabOf(other)], fixtures.url);
});

test('Firefox: two tabs that have a store open install in turn, and both read what is there', async ({
  fixtures,
  site,
}) => {
  await inFirefox(site.url, (tabs) => takeTurns(tabs, fixtures.url));
});

test('a store opened twice in one page serves both', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const handles = await Promise.all([
        Gantry.open({ registry }),
        Gantry.open({ registry }),
        Gantry.open({ registry }),
      ]);
      const install = (gantry: Gantry, index: number) =>
        gantry.install({ project: `project-${index}`, packageJson: { dependencies: { left: '1.1.0' } } });
      const projects = await Promise.all(handles.map(install));
      const texts = projects.map(({ fs }) => fs.readFile('node_modules/left/index.js', 'utf8'));
      const reused = projects.reduce((sum, { reused }) => sum + reused, 0);
      const result = { texts: await Promise.all(texts), reused };
      await Promise.all(handles.map((gantry) => gantry.close()));
      return result;
    },
    fixtures.url,
  );
  expect(result).toEqual({ texts: [NEW, NEW, NEW], reused: 2 });
});

test('an install that waits for another tab says so, can be given up, and begins when that one is done', async ({
  blank,
  fixtures,
  site,
}) => {
  const other = await beside(blank, `${site.url}/pages/blank.html`);
  const waiting = tabOf(other);
  await waiting.run(openStore, fixtures.url);
  await waiting.run(installLeft, '{"left":"1.0.0"}');
  await fixtures.fault({ path: '/right/-/*', kind: 'hang-in-body', after: 10, count: 1 });
  await blank.evaluate(hang, fixtures.url);
  await expect.poll(() => fixtures.faulty()).toBe(1);
  const told = await waiting.run(async () => {
    const { gantry } = globalThis as unknown as Kept;
    const abort = new AbortController();
    const events: string[] = [];
    const options = { packageJson: { dependencies: { left: '1.1.0' } } };
    const onEvent = ({ type }: { type: string }) => {
      events.push(type);
      abort.abort();
    };
    const code = await gantry.install({ ...options, onEvent, signal: abort.signal }).catch(({ code }) => code);
    Object.assign(globalThis, { pending: gantry.install(options) });
    return { code, events };
  });
  expect(told).toEqual({ code: 'ABORTED', events: ['waiting'] });
  // It reads while it waits.
  expect(await waiting.run(readLeft)).toEqual({ text: OLD, names: ['.package-lock.json', 'left'] });
  await blank.evaluate(() => (globalThis as unknown as Kept).gantry.close());
  const packages = await other.evaluate(async () => {
    const project = (await (globalThis as unknown as Kept).pending) as Project;
    return [project.packages, await project.fs.readFile('node_modules/left/index.js', 'utf8')];
  });
  expect(packages).toEqual([1, NEW]);
});

test('what only asks is answered while another tab installs', async ({ blank, fixtures, site }) => {
  const other = await besideInstall(blank, fixtures, site.url);
  const beside = await other.run(askAll);
  expect(beside).toMatchObject({ projects: ['default'], packages: 1, files: 2, unknown: true });
  expect(beside.why).toMatchObject([{ name: 'left', version: '1.0.0', dependents: [{ spec: '1.0.0' }] }]);
  expect(beside.lockfile).toContain('left-1.0.0.tgz');
  expect(beside.digest).toMatch(/^[0-9a-f]{64}$/);
  await blank.evaluate(() => (globalThis as unknown as Kept).gantry.close());
  // In this tab's turn the store itself answers.
  await other.run(prune);
  expect(await other.run(askAll)).toEqual(beside);
});

test('every change that waits for another tab says so, and can be given up', async ({ blank, fixtures, site }) => {
  const other = await besideInstall(blank, fixtures, site.url);
  const told = await other.run(async () => {
    const { gantry } = globalThis as unknown as Kept;
    const giveUp = async (begin: (onWaiting: () => void, signal: AbortSignal) => Promise<unknown>) => {
      const abort = new AbortController();
      let told = 0;
      const onWaiting = () => {
        told++;
        abort.abort();
      };
      return begin(onWaiting, abort.signal).then(
        () => 'done',
        ({ code }) => `${code} ${told}`,
      );
    };
    const packageJson = { dependencies: { left: '1.1.0' } };
    return [
      await giveUp((onWaiting, signal) => gantry.removeProject('default', { onWaiting, signal })),
      await giveUp((onWaiting, signal) => gantry.prune({ onWaiting, signal })),
      await giveUp((onWaiting, signal) => gantry.clear({ onWaiting, signal })),
      await giveUp((onWaiting, signal) => gantry.verify({ onWaiting, signal })),
      await giveUp((onWaiting, signal) => gantry.explain({ packageJson, onEvent: onWaiting, signal })),
      await giveUp((onWaiting, signal) => gantry.outdated({ packageJson, onEvent: onWaiting, signal })),
    ];
  });
  expect(told).toEqual(Array.from({ length: 6 }, () => 'ABORTED 1'));
  await blank.evaluate(() => (globalThis as unknown as Kept).gantry.close());
  // Nothing of it has been done.
  expect(await other.run(readLeft)).toEqual({ text: OLD, names: ['.package-lock.json', 'left'] });
  expect(await other.run(closeStore)).toEqual([]);
});

test('a store that waits for another tab can be closed, and what it was asked rejects with CLOSED', async ({
  blank,
  fixtures,
  site,
}) => {
  const other = await beside(blank, `${site.url}/pages/blank.html`);
  await tabOf(other).run(openStore, fixtures.url);
  await fixtures.fault({ path: '/right/-/*', kind: 'hang-in-body', after: 10, count: 1 });
  await blank.evaluate(hang, fixtures.url);
  await expect.poll(() => fixtures.faulty()).toBe(1);
  const codes = await tabOf(other).run(async () => {
    const { gantry } = globalThis as unknown as Kept;
    const codeOf = ({ code }: { code: string }) => code;
    const install = gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } }).then(() => '', codeOf);
    const prune = gantry.prune().then(() => '', codeOf);
    await new Promise((resume) => setTimeout(resume, 200));
    await gantry.close();
    return [await install, await prune];
  });
  expect(codes).toEqual(['CLOSED', 'CLOSED']);
});

test('a tab prunes and clears a store that others have open, and whose projects they have read', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first, second] = await twoTabs(blank, fixtures.url, site.url);
  await first.run(installLeft, '{"left":"1.1.0"}');
  await second.run(openStore, fixtures.url);
  expect((await first.run(readLeft)).text).toBe(NEW);
  const pruned = await second.run(async () => (await (globalThis as unknown as Kept).gantry.prune()).packages);
  expect(pruned).toBe(1);
  expect((await first.run(readLeft)).text).toBe(NEW);
  await second.run(() => (globalThis as unknown as Kept).gantry.clear());
  const gone = await first.run(() =>
    (globalThis as unknown as Kept).project.fs.readFile('node_modules/left/index.js').then(
      () => 'read',
      ({ code }) => code,
    ),
  );
  expect(gone).toBe('PROJECT_UNKNOWN');
  expect(await first.run(installLeft, '{"left":"1.1.0"}')).toBe(NEW);
});

/** In a page: has nobody see it, and waits until its worker lets go of a lock that it has. */
const hideUntilReleased = async (lock: string) => {
  const isHeld = async () => (await navigator.locks.query()).held?.some(({ name }) => name === lock);
  if (!(await isHeld())) throw new Error(`nobody has ${lock}`);
  Object.defineProperty(document, 'hidden', { value: true });
  document.dispatchEvent(new Event('visibilitychange'));
  while (await isHeld()) await new Promise((resume) => setTimeout(resume, 100));
};

/** Does something while a page is frozen, which afterwards reads on. */
async function whileFrozen(page: Page, action: () => Promise<void>): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
  await action();
  await devtools.send('Page.setWebLifecycleState', { state: 'active' });
  expect((await tabOf(page).run(readLeft)).text).toBe(NEW);
}

test('a tab that nobody sees and that has nothing to do lets go of its store before it can be frozen', async ({
  blank,
  fixtures,
  site,
}) => {
  const first = tabOf(blank);
  await first.run(openStore, fixtures.url);
  await first.run(installLeft, '{"left":"1.0.0"}');
  await first.run(hideUntilReleased, 'gantry:gantry');
  await whileFrozen(blank, async () => {
    const second = tabOf(await beside(blank, `${site.url}/pages/blank.html`));
    await second.run(openStore, fixtures.url);
    expect(await second.run(installLeft, '{"left":"1.1.0"}')).toBe(NEW);
  });
});

test('a tab that nobody sees lets go of what it reads while another one has the store', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first, second] = await twoTabs(blank, fixtures.url, site.url);
  await second.run(openStore, fixtures.url);
  await second.run(installLeft, '{"left":"1.1.0"}');
  expect((await first.run(readLeft)).text).toBe(NEW);
  await first.run(hideUntilReleased, 'gantry-readers:gantry');
  await whileFrozen(blank, () =>
    second.run(async () => {
      const { gantry } = globalThis as unknown as Kept;
      await gantry.prune();
    }),
  );
});

test('who hears of a change reads what is there now, however busy the worker is with reading', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first, second] = await twoTabs(blank, fixtures.url, site.url);
  await second.run(openStore, fixtures.url);
  const versions = ['1.1.0', '1.0.0', '1.1.0', '1.0.0', '1.1.0'];
  await first.run(async () => {
    const kept = globalThis as unknown as Kept & { heard: string[] };
    const { project } = kept;
    kept.heard = [];
    const path = 'node_modules/left/index.js';
    project.onDidChange(() => void project.fs.readFile(path, 'utf8').then((text) => kept.heard.push(text)));
    const readOn = () => void project.fs.readFile(path).then(readOn, readOn);
    for (let count = 0; count < 200; count++) readOn();
  });
  for (const [index, version] of versions.entries()) {
    await second.run(installLeft, JSON.stringify({ left: version }));
    const heard = () => first.run(async () => (globalThis as unknown as { heard: string[] }).heard);
    await expect.poll(async () => (await heard()).length).toBe(index + 1);
    expect((await heard()).at(-1)).toBe(version === '1.1.0' ? NEW : OLD);
  }
});

/** Installs without end, now this and now that; notes how often it has. */
const installForEver = async (argument: string) => {
  const { gantry } = globalThis as unknown as Kept;
  const { project, sets } = JSON.parse(argument);
  const page = Object.assign(globalThis, { installed: 0 });
  void (async () => {
    for (;;) {
      await gantry.install({ project, packageJson: { dependencies: sets[page.installed % sets.length] } });
      page.installed++;
    }
  })();
};

test('a tab that dies at whatever moment of taking turns leaves the store whole, and to the other', async ({
  blank,
  recording,
  site,
}) => {
  const survivor = tabOf(blank);
  await survivor.run(openStore, recording.url);
  const sets = [{ express: '^5.3.0' }, { express: '^5.3.0', zod: '^4.6.0' }, { lodash: '^4.18.0' }];
  await survivor.run(installForEver, JSON.stringify({ project: 'survivor', sets }));
  const installed = () => blank.evaluate(() => (globalThis as unknown as { installed: number }).installed);
  for (const moment of [0, 37, 120, 260, 410, 777]) {
    const victim = await beside(blank, `${site.url}/pages/blank.html`);
    await tabOf(victim).run(openStore, recording.url);
    await tabOf(victim).run(installForEver, JSON.stringify({ project: 'victim', sets: sets.toReversed() }));
    await new Promise((resume) => setTimeout(resume, moment));
    const crashed = victim.waitForEvent('crash');
    (await victim.context().newCDPSession(victim)).send('Page.crash').catch(() => {});
    await crashed;
    await victim.close();
    const before = await installed();
    await expect.poll(installed, { timeout: 20_000 }).toBeGreaterThan(before + 1);
  }
  const found = await inPage(
    await beside(blank, `${site.url}/pages/blank.html`),
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const { damaged, projects } = await gantry.verify();
      const again = await gantry.install({ project: 'again', packageJson: { dependencies: { express: '^5.3.0' } } });
      await gantry.close();
      return { damaged, projects, hasFetched: again.reused !== again.packages };
    },
    recording.url,
  );
  expect(found).toEqual({ damaged: [], projects: [], hasFetched: false });
});
