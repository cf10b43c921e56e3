/** Registries of scopes, and which of them is sent which token. */
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { Registry } from './support/registry.js';

/** Opens a store with options that are given as JSON, and installs a package of a scope whose dependency has none. */
function install(page: Page, options: object): Promise<number | string | undefined> {
  return inPage(
    page,
    async ({ Gantry }, argument) => {
      try {
        const gantry = await Gantry.open(JSON.parse(argument));
        try {
          const { packages } = await gantry.install({ packageJson: { dependencies: { '@scope/middle': '*' } } });
          return packages;
        } finally {
          await gantry.clear();
          await gantry.close();
        }
      } catch (error) {
        return (error as { code?: string }).code;
      }
    },
    JSON.stringify(options),
  );
}

test('each token is sent to its own registry, and to no other', async ({ blank, fixtures }) => {
  const scoped = await Registry.start('--fixtures', 'basic', '--require-token', 'of-the-scope');
  const closed = await Registry.start('--fixtures', 'basic', '--require-token', 'of-all-others');
  try {
    const scopes = { '@scope': scoped.url };
    const asked = async (registry: Registry) => {
      const requests = (await registry.requestsFor('/')).filter(({ method }) => method === 'GET');
      return [...new Set(requests.map(({ authorized }) => authorized))];
    };
    expect(await install(blank, { registry: fixtures.url, scopes })).toBe('REGISTRY_UNAUTHORIZED');
    // The token of one registry is none of another.
    expect(await install(blank, { registry: fixtures.url, scopes, token: 'of-the-scope' })).toBe(
      'REGISTRY_UNAUTHORIZED',
    );
    const tokens = { [scoped.url]: 'of-the-scope' };
    await Promise.all([scoped.reset(), fixtures.reset()]);
    expect(await install(blank, { registry: fixtures.url, scopes, tokens })).toBe(3);
    expect([await asked(scoped), await asked(fixtures)]).toEqual([[true], [false]]);

    await scoped.reset();
    const both = { registry: closed.url, scopes, token: 'of-all-others' };
    expect(await install(blank, { ...both, tokens: { [scoped.url]: 'another' } })).toBe('REGISTRY_UNAUTHORIZED');
    await Promise.all([scoped.reset(), closed.reset()]);
    expect(await install(blank, { ...both, tokens })).toBe(3);
    expect([await asked(scoped), await asked(closed)]).toEqual([[true], [true]]);
    // Without the last slash, and with the default registry among them.
    const all = { [scoped.url.slice(0, -1)]: 'of-the-scope', [closed.url]: 'of-all-others' };
    expect(await install(blank, { registry: closed.url, scopes, tokens: all })).toBe(3);
  } finally {
    scoped.stop();
    closed.stop();
  }
});

test('tokens of what is no registry, or that are no texts, are refused', async ({ blank, fixtures }) => {
  const registry = fixtures.url;
  expect(await install(blank, { registry, tokens: { 'ftp://registry.test/': 'token' } })).toBe('INVALID_OPTION');
  expect(await install(blank, { registry, tokens: { [registry]: 5 } })).toBe('INVALID_OPTION');
});
