/** Tabs that have one store open at the same time: each writes in its turn, and all read all the time. */
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import type { Gantry, Project } from '../../web/src/index.js';
import { launchFirefox } from './support/firefox.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { inRoot } from './support/paths.js';

/** What the scripts below keep in a page between them. */
interface Kept {
  gantry: Gantry;
  project: Project;
  pending: Promise<unknown>;
}

/** A tab, of whatever browser. */
interface Tab {
  run<T>(script: (argument: string) => Promise<T>, argument?: string): Promise<T>;
}

const tabOf = (page: Page): Tab => ({ run: (script, argument = '') => page.evaluate(script, argument) });

const openStore = async (registry: string) => {
  const { Gantry } = (await import(
    `${location.origin}/package/dist/index.js`
  )) as typeof import('../../web/src/index.js');
  const gantry = await Gantry.open({ registry, timeout: 20_000 });
  Object.assign(globalThis, { gantry });
};

/** Installs into the project `default`; what `left` says afterwards. */
const installLeft = async (text: string) => {
  const kept = globalThis as unknown as Kept;
  kept.project = await kept.gantry.install({ packageJson: { dependencies: JSON.parse(text) } });
  return kept.project.fs.readFile('node_modules/left/index.js', 'utf8');
};

const readLeft = async () => {
  const { gantry, project } = globalThis as unknown as Kept;
  const fs = (project ?? (await gantry.project()))?.fs;
  const names = await fs?.readdir('node_modules');
  return { text: await fs?.readFile('node_modules/left/index.js', 'utf8'), names };
};

const closeStore = async () => {
  const { gantry } = globalThis as unknown as Kept;
  const { damaged } = await gantry.verify();
  await gantry.close();
  return damaged;
};

/** Of a project whose archive has several parts. */
const manifest = readFileSync(inRoot('tests', 'projects', 'react', 'package.json'), 'utf8');

const OLD = 'module.exports = "left 1.0.0"\n';
const NEW = 'module.exports = "left 1.1.0"\n';

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
  expect(await first.run(closeStore)).toEqual([]);
  expect(await second.run(closeStore)).toEqual([]);
}

/** Another tab of the same profile. */
async function beside(page: Page, url: string): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(url);
  return other;
}

/** Two tabs, of which the first has the store open and `left` installed. */
async function twoTabs(page: Page, registry: string, site: string): Promise<[Tab, Tab]> {
  const tabs: [Tab, Tab] = [tabOf(page), tabOf(await beside(page, `${site}/pages/blank.html`))];
  await tabs[0].run(openStore, registry);
  await tabs[0].run(installLeft, '{"left":"1.0.0"}');
  return tabs;
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
  const browser = await launchFirefox();
  try {
    const tabs: Tab[] = [];
    for (let tab = 0; tab < 2; tab++) {
      const page = await browser.newPage();
      await page.goto(`${site.url}/pages/blank.html`);
      tabs.push({ run: (script, argument = '') => page.evaluate(script, argument) });
    }
    await takeTurns(tabs as [Tab, Tab], fixtures.url);
  } finally {
    await browser.close();
  }
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

/** Opens, and begins an install that does not end. */
const hang = async (registry: string) => {
  const { Gantry } = (await import(
    `${location.origin}/package/dist/index.js`
  )) as typeof import('../../web/src/index.js');
  const gantry = await Gantry.open({ registry });
  const pending = gantry.install({ project: 'hanging', packageJson: { dependencies: { right: '1.0.0' } } });
  pending.catch(() => {});
  Object.assign(globalThis, { gantry, pending });
};

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
    const usage = gantry.usage().then(() => '', codeOf);
    await new Promise((resume) => setTimeout(resume, 200));
    await gantry.close();
    return [await install, await usage];
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

test('a file that is open and an archive that is being read outlast the turn of another tab', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first, second] = await twoTabs(blank, fixtures.url, site.url);
  await first.run(async () => {
    const { project } = globalThis as unknown as Kept;
    const handle = await project.fs.open('node_modules/left/index.js');
    const { toTar } = await import(`${location.origin}/package/dist/export.js`);
    const reader = toTar(project).getReader();
    const { value } = await reader.read();
    Object.assign(globalThis, { handle, reader, read: value.length });
  });
  // It waits for neither.
  await second.run(openStore, fixtures.url);
  expect(await second.run(installLeft, '{"right":"1.0.0","left":"1.1.0"}')).toBe(NEW);
  const bytes = await first.run(async () => {
    const kept = globalThis as unknown as { reader: ReadableStreamDefaultReader<Uint8Array>; read: number };
    for (let size = kept.read; ; ) {
      const { done, value } = await kept.reader.read();
      if (done) return size;
      size += value.length;
    }
  });
  expect(bytes % 512).toBe(0);
  const text = await first.run(async () => {
    const { handle } = globalThis as unknown as { handle: { readFile(encoding: string): Promise<string> } };
    return handle.readFile('utf8');
  });
  expect(text).toBe(OLD);
});

/** Installs what has the text of `package.json` that is given, as the project `default`. */
const installManifest = async (packageJson: string) => {
  const kept = globalThis as unknown as Kept;
  kept.project = await kept.gantry.install({ packageJson });
};

const prune = () =>
  (globalThis as unknown as Kept).gantry.prune().then(
    ({ packages }) => packages > 0,
    ({ code }) => code as string,
  );

/** What a page keeps of an archive that it reads. */
interface Exporting {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  parts: BlobPart[];
  /** Digest of all of it. */
  expected: string;
}

/** Has read a part of an archive of its project; what all of it is it knows from another one. */
const beginArchive = async () => {
  const { project } = globalThis as unknown as Kept;
  const { toTar, toZip } = (await import(
    `${location.origin}/package/dist/export.js`
  )) as typeof import('../../web/src/export.js');
  const digest = await crypto.subtle.digest('SHA-256', await new Response(toTar(project) as BodyInit).arrayBuffer());
  const reader = toTar(project).getReader();
  const { value } = await reader.read();
  // And one that nobody reads.
  toZip(project);
  Object.assign(globalThis, { reader, parts: [value], expected: [...new Uint8Array(digest)].join() });
};

/** Reads one more part; whether there was one. */
const readPart = async () => {
  const { reader, parts } = globalThis as unknown as Exporting;
  const { done, value } = await reader.read();
  if (value) parts.push(value as Uint8Array<ArrayBuffer>);
  return !done;
};

/** Reads what is left: how many parts there were in all, and whether they are what they should be. */
const endArchive = async () => {
  const { reader, parts, expected } = globalThis as unknown as Exporting;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
  const digest = await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer());
  return { parts: parts.length, isWhole: [...new Uint8Array(digest)].join() === expected };
};

test('archives that are half read, and those that nobody reads, leave the store to another tab, and go on beside it', async ({
  blank,
  recording,
  site,
}) => {
  const [first, second] = [tabOf(blank), tabOf(await beside(blank, `${site.url}/pages/blank.html`))];
  await first.run(openStore, recording.url);
  await first.run(installManifest, manifest);
  await first.run(beginArchive);
  // In this tab's turn, from the other's files, and again in this one's: whatever the project is meanwhile.
  await second.run(openStore, recording.url);
  expect(await first.run(readPart)).toBe(true);
  await second.run(installManifest, '{"dependencies":{"lodash":"^4.18.0"}}');
  expect(await first.run(readPart)).toBe(true);
  expect(await second.run(prune)).toBe('STORE_LOCKED');
  await first.run(installManifest, '{"dependencies":{"zod":"^4.6.0"}}');
  expect(await first.run(readPart)).toBe(true);
  expect(await second.run(() => (globalThis as unknown as Kept).gantry.removeProject())).toBe(true);
  const { parts, isWhole } = await first.run(endArchive);
  expect(parts).toBeGreaterThan(5);
  expect(isWhole).toBe(true);
});

test('an archive that nobody has read for a while does not keep packages, and says so when it is read on', async ({
  blank,
  recording,
  site,
}) => {
  const [first, second] = [tabOf(blank), tabOf(await beside(blank, `${site.url}/pages/blank.html`))];
  await first.run(openStore, recording.url);
  await first.run(installManifest, manifest);
  await first.run(beginArchive);
  await second.run(openStore, recording.url);
  await second.run(installManifest, '{"dependencies":{"lodash":"^4.18.0"}}');
  await expect.poll(() => second.run(prune), { timeout: 30_000 }).toBe(true);
  expect(await first.run(() => (globalThis as unknown as Kept).project.fs.readdir('node_modules'))).toContain('lodash');
  const failure = await first.run(async () => {
    const { reader } = globalThis as unknown as Exporting;
    for (;;) {
      const end = await reader.read().then(
        ({ done }) => done && 'ended',
        ({ code, message }) => `${code}: ${message}`,
      );
      if (end) return end;
    }
  });
  expect(failure).toBe('STORE_LOST: a package of this project is not in the store any more');
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

test('an archive whose signal fires ends although nobody reads it, and leaves the store to other tabs', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first, second] = await twoTabs(blank, fixtures.url, site.url);
  const reason = await first.run(async () => {
    const { project } = globalThis as unknown as Kept;
    const { toTar } = await import(`${location.origin}/package/dist/export.js`);
    const abort = new AbortController();
    const reader = toTar(project, { signal: abort.signal }).getReader();
    await reader.read();
    abort.abort('had enough');
    return reader.closed.then(
      () => 'closed',
      (reason: unknown) => reason,
    );
  });
  expect(reason).toBe('had enough');
  await second.run(openStore, fixtures.url);
  expect(await second.run(installLeft, '{"left":"1.1.0"}')).toBe(NEW);
});

test('the playground says while it installs that it waits for another tab', async ({
  playground,
  fixtures,
  context,
  site,
}) => {
  await playground.open('lodash', fixtures.url);
  await playground.writeDependencies({ left: '1.1.0' });
  const other = await context.newPage();
  await other.goto(`${site.url}/pages/blank.html`);
  await fixtures.fault({ path: '/right/-/*', kind: 'hang-in-body', after: 10, count: 1 });
  await other.evaluate(hang, fixtures.url);
  await expect.poll(() => fixtures.faulty()).toBe(1);
  await playground.press();
  await expect(playground.page.getByTestId('waiting')).toBeVisible();
  await other.close();
  await playground.installed(1);
  await expect(playground.page.getByTestId('waiting')).toHaveCount(0);
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
