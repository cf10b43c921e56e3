/** The playground beside other tabs, which have its store open, too. */
import { expect, test } from './support/fixtures.js';
import { Playground } from './support/playground.js';
import { hang } from './support/sharing.js';

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

test('clearing the storage in the playground waits for another tab, says so, and can be given up', async ({
  playground,
  fixtures,
  context,
  site,
}) => {
  const { page, panel } = playground;
  await playground.open('lodash', fixtures.url);
  await playground.writeDependencies({ left: '1.1.0' });
  await playground.install();
  const other = await context.newPage();
  await other.goto(`${site.url}/pages/blank.html`);
  await fixtures.fault({ path: '/right/-/*', kind: 'hang-in-body', after: 10, count: 1 });
  await other.evaluate(hang, fixtures.url);
  await expect.poll(() => fixtures.faulty()).toBe(1);
  // One in the background is not drawn, and can hardly be clicked.
  await page.bringToFront();
  const clear = async () => {
    await page.getByTestId('settings').click();
    await page.getByRole('button', { name: 'Clear storage' }).click();
    await page.getByRole('button', { name: 'Remove everything' }).click();
    await expect(page.getByRole('dialog')).toContainText('Another tab is at work');
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('waiting')).toBeVisible();
    await expect(panel).toHaveAttribute('data-state', 'clearing');
    // Nothing can be begun beside it.
    await expect(page.getByTestId('install-button')).toHaveCount(0);
  };
  await clear();
  await page.getByTestId('cancel-button').click();
  await expect(page.getByTestId('done')).toHaveAttribute('data-packages', '1');
  await clear();
  await other.close();
  await expect(panel).toHaveAttribute('data-state', 'idle');
  await expect(page.getByRole('treeitem', { name: 'node_modules' })).toHaveCount(0);
  await playground.install();
});

test('the playground shows what another tab makes of its project', async ({ playground, fixtures, context, site }) => {
  const other = new Playground(await context.newPage(), site);
  await other.open('lodash', fixtures.url);
  await playground.page.bringToFront();
  await playground.open('lodash', fixtures.url);
  await playground.writeDependencies({ left: '1.0.0' });
  await playground.install();
  const done = other.page.getByTestId('done');
  const row = (name: string) => other.page.getByRole('treeitem', { name, exact: true });
  await expect(done).toContainText('1 package');
  await expect(done).toContainText('from another tab');
  await other.page.bringToFront();
  await row('left').click();
  // Beside the project's own.
  await expect(row('package.json')).toHaveCount(2);
  await row('package.json').last().click();
  await expect(other.page.locator('.cm-content')).toContainText('"version": "1.0.0"');
  await playground.page.bringToFront();
  await playground.writeDependencies({ left: '1.1.0', right: '1.0.0' });
  await playground.install();
  await expect(done).toContainText('2 packages');
  await expect(row('right')).toBeVisible();
  await expect(other.page.locator('.cm-content')).toContainText('"version": "1.1.0"');
  await other.page.bringToFront();
  await other.page.getByRole('tab', { name: 'package-lock.json' }).click();
  await expect(other.page.locator('.cm-content')).toContainText('right-1.0.0.tgz');
  // This one's own install is its own.
  await expect(playground.page.getByTestId('done')).not.toContainText('from another tab');
  await playground.page.evaluate(async (registry) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const gantry = await Gantry.open({ registry });
    await gantry.removeProject('lodash');
    await gantry.close();
  }, fixtures.url);
  for (const { panel } of [playground, other]) await expect(panel).toHaveAttribute('data-state', 'idle');
  await expect(row('node_modules')).toHaveCount(0);
});

test('a folder that the playground cannot read is said to be so', async ({ playground, fixtures }) => {
  const { page } = playground;
  await playground.open('lodash', fixtures.url);
  await playground.writeDependencies({ left: '1.1.0' });
  await playground.install();
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  const coordinator = page.workers().find((worker) => worker.url().includes('coordinator'));
  await coordinator?.evaluate(() => self.close());
  await page.getByRole('treeitem', { name: 'left', exact: true }).click();
  await expect(page.getByRole('alert')).toHaveText('The install worker ended unexpectedly');
  await playground.install();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await page.getByRole('treeitem', { name: 'left', exact: true }).click();
  await expect(page.getByRole('treeitem', { name: 'index.js' })).toBeVisible();
  expect(errors).toEqual([]);
});
