/** `npm start`'s server: the playground from its sources, its registry behind a path of the same origin. */
import { createServer } from 'vite';
import { expect, test } from './support/fixtures.js';
import { inRoot } from './support/paths.js';

test('the development server’s playground installs through its own registry path', async ({ page, recording }) => {
  const before = { registry: process.env.GANTRY_REGISTRY, ci: process.env.CI };
  // Vite's configuration reads them: the proxy leads to the recording, and no compiler watches.
  Object.assign(process.env, { GANTRY_REGISTRY: recording.url, CI: '1' });
  const server = await createServer({ root: inRoot(), logLevel: 'warn', server: { port: 0, host: '127.0.0.1' } });
  try {
    await server.listen();
    const [address = ''] = server.resolvedUrls?.local ?? [];
    await page.goto(`${address}?project=lodash`);
    await page.locator('.cm-editor').waitFor({ timeout: 60_000 });
    await page.getByTestId('settings').click();
    await expect(page.getByRole('textbox', { name: 'Registry' })).toHaveValue('/-/registry/');
    await page.keyboard.press('Escape');
    await page.getByTestId('install-button').click();
    await expect(page.getByTestId('done')).toHaveAttribute('data-packages', '1');
    await page.getByTestId('run-button').click();
    await expect(page.frameLocator('iframe.frame').getByRole('log')).toContainText('Ada: 215', { timeout: 60_000 });
  } finally {
    await server.close();
    for (const [name, value] of [
      ['GANTRY_REGISTRY', before.registry],
      ['CI', before.ci],
    ] as const) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});
