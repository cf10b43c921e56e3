/** Vite's development server: `npm start`'s, and that of a page which uses the published package. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { createServer, type DepOptimizationOptions, version } from 'vite';
import { expect, test } from './support/fixtures.js';
import { inRoot, packageFolder } from './support/paths.js';

/** Another address of a server, which counts the connections made to it. */
async function countingConnections(target: URL) {
  const counted = { url: '', connections: 0, close: () => relay.close() };
  const relay = createTcpServer((incoming) => {
    counted.connections += 1;
    const outgoing = connect(Number(target.port), target.hostname);
    for (const socket of [incoming, outgoing]) socket.on('error', () => socket.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening));
  counted.url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/`;
  return counted;
}

test('the development server’s playground installs through its own registry path', async ({ page, recording }) => {
  const before = { registry: process.env.GANTRY_REGISTRY, ci: process.env.CI };
  const registry = await countingConnections(new URL(recording.url));
  // Vite's configuration reads them: the proxy leads to the recording, and no compiler watches.
  Object.assign(process.env, { GANTRY_REGISTRY: registry.url, CI: '1' });
  const server = await createServer({ root: inRoot(), logLevel: 'warn', server: { port: 0, host: '127.0.0.1' } });
  try {
    await server.listen();
    const [address = ''] = server.resolvedUrls?.local ?? [];
    await recording.reset();
    await page.goto(`${address}?project=express`);
    await page.locator('.cm-editor').waitFor({ timeout: 60_000 });
    await page.getByTestId('settings').click();
    await expect(page.getByRole('textbox', { name: 'Registry' })).toHaveValue('/-/registry/');
    await page.keyboard.press('Escape');
    await page.getByTestId('install-button').click();
    await expect(page.getByTestId('done')).toBeVisible();
    // A browser has at most 6 requests under way, and each connection serves many: with TLS they are what is dear.
    expect(await recording.requests()).toBeGreaterThan(100);
    expect(registry.connections).toBeLessThan(40);
    await page.goto(`${address}?project=lodash`);
    await page.getByTestId('install-button').click();
    await expect(page.getByTestId('done')).toHaveAttribute('data-packages', '1');
    await page.getByTestId('run-button').click();
    await expect(page.frameLocator('iframe.frame').getByRole('log')).toContainText('Ada: 215', { timeout: 60_000 });
  } finally {
    await server.close();
    registry.close();
    for (const [name, value] of [
      ['GANTRY_REGISTRY', before.registry],
      ['CI', before.ci],
    ] as const) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});

/** Serves a page that has the package installed, and waits for what it says of that. */
async function useInstalled(page: Page, registry: string, optimizeDeps: DepOptimizationOptions): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'gantry-vite-'));
  // A copy: what a link leads to is none of the installed packages to Vite, which treats those otherwise.
  cpSync(packageFolder, join(root, 'node_modules', 'gantry'), { recursive: true });
  symlinkSync(inRoot('node_modules', 'enhanced-resolve'), join(root, 'node_modules', 'enhanced-resolve'));
  const html = '<!doctype html><title>waiting</title><script type="module" src="/main.js"></script>';
  writeFileSync(join(root, 'index.html'), html);
  const script = `
import { Gantry } from 'gantry';
import { createResolver } from 'gantry/resolve';
const gantry = await Gantry.open({ registry: '${registry}' });
const project = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
document.title = 'said: ' + (await createResolver(project).resolve('left', '/main.js'));
await gantry.close();
`;
  writeFileSync(join(root, 'main.js'), script);
  const server = await createServer({
    root,
    configFile: false,
    logLevel: 'warn',
    optimizeDeps,
    server: { port: 0, host: '127.0.0.1' },
  });
  try {
    await server.listen();
    await page.goto(server.resolvedUrls?.local[0] ?? '');
    await expect(page).toHaveTitle('said: /node_modules/left/index.js');
  } finally {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

test('a page that has the package installed is served with the settings that its readme names', async ({
  page,
  fixtures,
}) => {
  const readme = readFileSync(join(packageFolder, 'README.md'), 'utf8');
  const [, settings = ''] = /`optimizeDeps: \{ exclude: (\[.*?\], include: \[.*?\]) \}`/.exec(readme) ?? [];
  const [exclude, include] = settings.split(', include: ').map((names) => JSON.parse(names.replaceAll("'", '"')));
  await useInstalled(page, fixtures.url, { exclude, include });
});

test('a page that has the package installed is served by Vite 8 without any settings', async ({ page, fixtures }) => {
  expect(Number.parseInt(version, 10)).toBeGreaterThanOrEqual(8);
  await useInstalled(page, fixtures.url, {});
});
