/** `onDidChange`: which packages an install has changed, told to those who watch. */
import type { Project, ProjectChange } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';

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
      const stop = first.onDidChange((change) => told.push(change));
      returned.push((await install({ left: '1.0.0', executable: '1.0.0' })).changes);
      returned.push((await install({ left: '1.0.0', executable: '1.0.0' })).changes);
      returned.push((await install({ left: '1.1.0', executable: '1.0.0' })).changes);
      // Of another project nothing is told.
      await install({ right: '1.0.0' }, 'other');
      await gantry.close();
      // Also where the project of before was not opened by this coordinator.
      gantry = await Gantry.open({ registry, timeout: 20_000 });
      returned.push((await install({ right: '1.0.0' })).changes, (await gantry.project())?.changes);
      const deadline = performance.now() + 10_000;
      while (told.length < 3 && performance.now() < deadline) await new Promise((resume) => setTimeout(resume, 10));
      stop();
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
