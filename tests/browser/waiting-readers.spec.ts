/** Who waits to have a store alone, and gives up, has kept nobody waiting behind it for longer. */
import { expect, test } from './support/fixtures.js';
import { beside, closeStore, type Kept, NEW, openStore, readLeft, tabOf, twoTabs } from './support/sharing.js';

/** In a page: has a worker read the project by itself, until the page goes. */
const startReader = async () => {
  const script = `
    const { openProject } = await import('${location.origin}/package/dist/sync.js');
    await openProject();
    postMessage('open');
    setInterval(() => {}, 1000);`;
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const worker = new Worker(url, { type: 'module' });
  Object.assign(globalThis, { worker });
  await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
};

/** In a page: until somebody waits to have a lock alone. */
const untilWaiting = async (lock: string) => {
  const isWaiting = async () => {
    const { pending } = await navigator.locks.query();
    return pending?.some(({ name, mode }) => name === lock && mode === 'exclusive');
  };
  while (!(await isWaiting())) await new Promise((resume) => setTimeout(resume, 10));
};

test('other tabs read on while one cannot prune for a worker that reads, and afterwards', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first, second] = await twoTabs(blank, fixtures.url, site.url);
  await second.run(openStore, fixtures.url);
  await first.run(startReader);
  await first.run(async () => {
    const kept = globalThis as unknown as Kept;
    kept.project = await kept.gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
    kept.pending = kept.gantry.prune().catch(({ code }) => code);
  });
  await first.run(untilWaiting, 'gantry-readers:gantry');
  const reading = second.run(async () => {
    const { gantry } = globalThis as unknown as Kept;
    const project = await gantry.project();
    return project?.fs.readFile('node_modules/left/index.js', 'utf8');
  });
  expect(await first.run(async () => (globalThis as unknown as Kept).pending)).toBe('STORE_LOCKED');
  expect(await reading).toBe(NEW);
  expect((await second.run(readLeft)).text).toBe(NEW);
  expect(await first.run(closeStore)).toEqual([]);
});

test('a store can be opened once more after another tab has given up removing it', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first] = await twoTabs(blank, fixtures.url, site.url);
  const [removing, opening] = [
    tabOf(await beside(blank, `${site.url}/pages/blank.html`)),
    tabOf(await beside(blank, `${site.url}/pages/blank.html`)),
  ];
  const removed = removing.run(async () => {
    const { Gantry } = (await import(
      `${location.origin}/package/dist/index.js`
    )) as typeof import('../../web/src/index.js');
    return Gantry.remove({ timeout: 1500 }).catch(({ code }) => code);
  });
  await first.run(untilWaiting, 'gantry-open:gantry');
  const opened = opening.run(openStore, fixtures.url);
  expect(await removed).toBe('STORE_BUSY');
  await opened;
  expect(await opening.run(closeStore)).toEqual([]);
  expect(await first.run(closeStore)).toEqual([]);
});
