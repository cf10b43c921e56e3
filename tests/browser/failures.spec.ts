/**
 * Every bad input gives one error with its code, shown in the page, and leaves a store in which a good install works.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GantryErrorCode } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { Playground } from './support/playground.js';
import { Registry } from './support/registry.js';

interface Case {
  what: string;
  /** Text of package.json, or its dependencies on the registry of fixtures. */
  written: string | Record<string, string>;
  code: GantryErrorCode;
  /** In the message. */
  says: string | RegExp;
}

const cases: Case[] = [
  {
    what: 'package.json is no JSON',
    written: '{ "dependencies": {',
    code: 'MANIFEST_JSON',
    says: 'package.json',
  },
  { what: 'package.json is a list', written: '[]', code: 'MANIFEST_SHAPE', says: 'package.json' },
  { what: 'a name that no package can have', written: { '../up': '1' }, code: 'RESOLVE_INVALID_SPEC', says: '../up' },
  {
    what: 'an unknown package',
    written: { 'never-published': '1' },
    code: 'RESOLVE_PACKAGE_NOT_FOUND',
    says: 'never-published',
  },
  { what: 'no version that matches', written: { left: '^99.0.0' }, code: 'RESOLVE_NO_MATCHING_VERSION', says: 'left' },
  { what: 'an unknown tag', written: { left: 'nightly' }, code: 'RESOLVE_NO_MATCHING_VERSION', says: 'left' },
  {
    what: 'an unknown package further down',
    written: { 'no-such-package': '1' },
    code: 'RESOLVE_PACKAGE_NOT_FOUND',
    says: 'never-published',
  },
  { what: 'a wrong integrity', written: { 'bad-integrity': '1' }, code: 'ARCHIVE_INTEGRITY', says: 'bad-integrity' },
  {
    what: 'a damaged tarball',
    written: { 'corrupt-tarball': '1' },
    code: 'ARCHIVE_INTEGRITY',
    says: 'corrupt-tarball',
  },
  { what: 'a truncated tarball', written: { truncated: '1' }, code: 'ARCHIVE_INTEGRITY', says: 'truncated' },
  {
    what: 'a tarball that is no archive',
    written: { 'not-an-archive': '1' },
    code: 'ARCHIVE_FORMAT',
    says: 'not-an-archive',
  },
  {
    what: 'a missing tarball',
    written: { 'missing-tarball': '1' },
    code: 'REGISTRY_NOT_FOUND',
    says: 'missing-tarball',
  },
  {
    what: 'HTML instead of a document',
    written: { 'html-packument': '1' },
    code: 'REGISTRY_PACKUMENT',
    says: 'html-packument',
  },
  {
    what: 'a registry that is always busy',
    written: { 'always-busy': '1' },
    code: 'REGISTRY_STATUS',
    says: 'always-busy',
  },
];

/** After whatever went wrong. */
async function goodInstallWorks(playground: Playground): Promise<void> {
  await playground.writeDependencies({ right: '^1.0.0' });
  await playground.install();
  await expect(playground.page.getByTestId('done')).toHaveAttribute('data-packages', '2');
}

for (const { what, written, code, says } of cases) {
  test(`${what}: a typed error is shown, and a good install works afterwards`, async ({ playground, fixtures }) => {
    await playground.open('lodash', fixtures.url);
    if (typeof written === 'string') await playground.write(written);
    else await playground.writeDependencies(written);
    const shown = await playground.installFails();
    expect(shown.code).toBe(code);
    expect(`${shown.message} ${await playground.failure.textContent()}`).toMatch(says);
    // Everything but a fault of package.json itself concerns a package, and names it apart from the message.
    expect(shown.package.replace(/@[^@/]+$/, '')).toBe(code.startsWith('MANIFEST_') ? '' : says);
    await goodInstallWorks(playground);
  });
}

test('a registry that is down: the error says so, and a good install works once it is up', async ({
  playground,
  fixtures,
}) => {
  await playground.open('lodash', 'http://127.0.0.1:9/');
  await playground.writeDependencies({ right: '^1.0.0' });
  const shown = await playground.installFails();
  expect(shown.code).toBe('REGISTRY_UNREACHABLE');
  await playground.useRegistry(fixtures.url);
  await goodInstallWorks(playground);
});

test('a tab that is offline: the error says so, and the install works once it is online', async ({
  playground,
  fixtures,
}) => {
  await playground.open('lodash', fixtures.url);
  await playground.writeDependencies({ right: '^1.0.0' });
  await playground.page.context().setOffline(true);
  const shown = await playground.installFails();
  expect(shown.code).toBe('REGISTRY_UNREACHABLE');
  await playground.page.context().setOffline(false);
  await goodInstallWorks(playground);
});

test('a registry that wants a token: the error says so, and its token helps', async ({ playground }) => {
  const registry = await Registry.start('--fixtures', 'basic', '--require-token', 'open-sesame');
  try {
    await playground.open('lodash', registry.url);
    await playground.writeDependencies({ right: '^1.0.0' });
    const shown = await playground.installFails();
    expect(shown.code).toBe('REGISTRY_UNAUTHORIZED');
    await playground.useRegistry(registry.url, 'open-sesame');
    await goodInstallWorks(playground);
  } finally {
    registry.stop();
  }
});

for (const profile of ['an ordinary profile', 'a private window'] as const) {
  test(`no room left, ${profile}: the error says so, what was installed still reads, and a good install follows`, async ({
    playwright,
    contextOptions,
    launchOptions,
    site,
    fixtures,
    recording,
  }) => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-profile-'));
    const options = { ...launchOptions, ...contextOptions };
    const context =
      profile === 'an ordinary profile'
        ? await playwright.chromium.launchPersistentContext(folder, options)
        : await (await playwright.chromium.launch(launchOptions)).newContext(contextOptions);
    try {
      const page = await context.newPage();
      const playground = new Playground(page, site);
      await playground.open('lodash', fixtures.url);
      await playground.writeDependencies({ left: '1.1.0' });
      await playground.install();

      const { origin } = new URL(page.url());
      const devtools = await context.newCDPSession(page);
      await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 500_000 });
      await playground.useRegistry(recording.url);
      await playground.writeDependencies({ lodash: '^4.18.0' });
      const shown = await playground.installFails();
      expect(shown.code).toBe('STORE_FULL');
      expect(shown.package).toMatch(/^lodash@4\./);
      expect(shown.hint).not.toBe('');
      await page.getByRole('treeitem', { name: 'left' }).click();
      await page.getByRole('treeitem', { name: 'index.js' }).click();
      await expect(page.locator('.cm-content')).toContainText('left 1.1.0');

      await devtools.send('Storage.overrideQuotaForOrigin', { origin });
      await page.getByRole('tab', { name: 'package.json' }).click();
      await playground.install();
      await playground.run();
      await expect(playground.frame.getByRole('log')).toContainText('Ada: 215');
    } finally {
      await (context.browser() ?? context).close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test('an address that is no address is refused in the settings', async ({ playground, fixtures }) => {
  await playground.open('lodash', fixtures.url);
  await playground.page.getByTestId('settings').click();
  for (const address of ['http://[nowhere', 'registry.test', 'ftp://registry.test/']) {
    await playground.page.getByRole('textbox', { name: 'Registry' }).fill(address);
    await playground.page.getByRole('button', { name: 'Save' }).click();
    await expect(playground.page.getByRole('alert')).toContainText('This is not an address');
    await playground.page.getByRole('textbox', { name: 'Registry' }).fill('./registry/');
    await playground.page.getByRole('button', { name: 'Save' }).click();
    await expect(playground.page.getByRole('dialog')).toHaveCount(0);
    await playground.page.getByTestId('settings').click();
    await expect(playground.page.getByRole('alert')).toHaveCount(0);
  }
});

test('a token does not go along when the registry becomes another', async ({ playground, fixtures }) => {
  await playground.open('lodash', fixtures.url);
  await playground.useRegistry(fixtures.url, 'open-sesame');
  await playground.page.getByTestId('settings').click();
  const address = playground.page.getByRole('textbox', { name: 'Registry' });
  const token = playground.page.getByLabel('Token');
  await address.fill(`${fixtures.url}below/`);
  await expect(token).toHaveValue('open-sesame');
  await address.fill('https://registry.test/');
  await expect(token).toHaveValue('');
});
