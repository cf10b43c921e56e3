/** Pages with a Content-Security-Policy or a Cross-Origin-Embedder-Policy: what the package needs, as its readme says. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';
import { packageFolder } from './support/paths.js';
import type { Site } from './support/site.js';

type Headers = Record<string, string>;

const script = (registry: string, address: string) => `
import { Gantry } from '${address}';
const refused = new Set();
addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.add(effectiveDirective));
try {
  const gantry = await Gantry.open({ registry: '${registry}', store: crypto.randomUUID() });
  const { packages } = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
  await gantry.close();
  document.title = 'installed ' + packages;
} catch (error) {
  document.title = 'failed ' + error.code;
  document.body.textContent = error.hint;
}
document.body.dataset.refused = [...refused].sort().join(' ');`;

/** What a page is told that fails under a policy, beside its code. */
const hintOf = (page: Page): Promise<string | null> => page.locator('body').textContent();

interface Served {
  ofPage: Headers;
  ofPackage: Headers;
  /** Of the package. */
  address?: string;
  /** What the page has before its script, and what that element has. */
  head?: string;
  attributes?: string;
}

/** What becomes of an install in a page with these headers, whose package is served with those. */
async function outcome(
  page: Page,
  site: Site,
  registry: string,
  { ofPage, ofPackage, address = '/package/dist/index.js', head = '', attributes = '' }: Served,
): Promise<string> {
  const answer = (response: ServerResponse, type: string, body: string | Buffer, headers: Headers) =>
    response.writeHead(200, { 'content-type': type, ...headers }).end(body);
  site.answering.set('/policy/', ({ pathname }, response) => {
    const isScript = pathname.endsWith('.js');
    const html = `<!doctype html><title>waiting</title>${head}<script type="module" ${attributes} src="main.js"></script>`;
    answer(response, isScript ? 'text/javascript' : 'text/html', isScript ? script(registry, address) : html, ofPage);
  });
  site.answering.set('/package/', ({ pathname }, response) => {
    const type = pathname.endsWith('.wasm') ? 'application/wasm' : 'text/javascript';
    answer(response, type, readFileSync(join(packageFolder, pathname.slice('/package/'.length))), ofPackage);
  });
  try {
    await page.goto(`${site.url}/policy/`);
    await expect(page).toHaveTitle(/^(installed|failed) /);
    return await page.title();
  } finally {
    site.answering.clear();
  }
}

const csp = (...directives: string[]): Headers => ({
  'content-security-policy': ["default-src 'none'", ...directives].join('; '),
});

test('a page with a Content-Security-Policy needs scripts, workers, WebAssembly and the registry in it', async ({
  page,
  site,
  fixtures,
}) => {
  const scripts = "script-src 'self' 'wasm-unsafe-eval'";
  const registry = `connect-src 'self' ${new URL(fixtures.url).origin}`;
  const under = (...directives: string[]) =>
    outcome(page, site, fixtures.url, { ofPage: csp(...directives), ofPackage: csp(...directives) });
  expect(await under(scripts, "worker-src 'self'", registry)).toBe('installed 1');
  // Unless it is there, script-src is in its place.
  expect(await under(scripts, registry)).toBe('installed 1');
  expect(await under(scripts, "worker-src 'none'", registry)).toBe('failed WORKER_LOST');
  expect(await hintOf(page)).toContain('worker-src');
  expect(await under("script-src 'self'", registry)).toBe('failed WASM_UNAVAILABLE');
  expect(await hintOf(page)).toContain("'wasm-unsafe-eval'");
  expect(await under(scripts, "connect-src 'self'")).toBe('failed REGISTRY_UNREACHABLE');
  expect(await hintOf(page)).toContain('connect-src');
  expect(await under(scripts, "connect-src 'none'")).toBe('failed WASM_UNAVAILABLE');
  expect(await hintOf(page)).toContain('connect-src');
  // A worker has the policy that its own script comes with.
  const ofPage = csp("script-src 'self'", "worker-src 'self'");
  expect(await outcome(page, site, fixtures.url, { ofPage, ofPackage: {} })).toBe('installed 1');
});

test('from another origin a policy needs that origin, and blob: for workers, which have the policy of the page', async ({
  page,
  site,
  fixtures,
  cdn,
}) => {
  const under = (...directives: string[]) =>
    outcome(page, site, fixtures.url, {
      ofPage: csp(...directives),
      ofPackage: {},
      address: `${cdn.url}/package/dist/index.js`,
    });
  const scripts = `script-src 'self' ${cdn.url} 'wasm-unsafe-eval'`;
  const addresses = `connect-src ${cdn.url} ${new URL(fixtures.url).origin}`;
  // What the module of blob: imports counts as a worker, too.
  expect(await under(scripts, `worker-src blob: ${cdn.url}`, addresses)).toBe('installed 1');
  for (const workers of ['blob:', cdn.url]) {
    expect(await under(scripts, `worker-src ${workers}`, addresses)).toBe('failed WORKER_LOST');
  }
  const unsafe = `script-src 'self' ${cdn.url}`;
  expect(await under(unsafe, `worker-src blob: ${cdn.url}`, addresses)).toBe('failed WASM_UNAVAILABLE');
});

test('a page with a Cross-Origin-Embedder-Policy needs it on the scripts of the workers, too', async ({
  page,
  site,
  fixtures,
}) => {
  const isolated = {
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-opener-policy': 'same-origin',
  };
  const ask = (ofPackage: Headers) => outcome(page, site, fixtures.url, { ofPage: isolated, ofPackage });
  expect(await ask(isolated)).toBe('installed 1');
  expect(await ask({})).toBe('failed WORKER_LOST');
  expect(await hintOf(page)).toContain('Cross-Origin-Embedder-Policy');
});

test('a page that takes trusted addresses only takes those of the workers, and refuses nothing on the way', async ({
  page,
  site,
  fixtures,
  cdn,
}) => {
  const trusting = ["require-trusted-types-for 'script'", 'trusted-types gantry'];
  const under = (address: string, ...directives: string[]) => {
    const policy = { 'content-security-policy': directives.join('; ') };
    return outcome(page, site, fixtures.url, { ofPage: policy, ofPackage: policy, address });
  };
  // From another origin workers begin by a script that is made here.
  for (const address of ['/package/dist/index.js', `${cdn.url}/package/dist/index.js`]) {
    expect(await under(address, ...trusting)).toBe('installed 1');
    await expect(page.locator('body')).toHaveAttribute('data-refused', '');
    expect(await under(address, ...trusting.slice(0, 1))).toBe('installed 1');
    // A list that is of no consequence, since nothing has to be trusted.
    expect(await under(address, 'trusted-types another')).toBe('installed 1');
    expect(await under(address, trusting[0] as string, 'trusted-types another')).toBe('failed WORKER_LOST');
    expect(await hintOf(page)).toContain('"gantry"');
  }
});

test('with a nonce and strict-dynamic nothing else is needed but, from another origin, WebAssembly', async ({
  page,
  site,
  fixtures,
  cdn,
}) => {
  const under = (directives: string, address: string) =>
    outcome(page, site, fixtures.url, {
      ofPage: { 'content-security-policy': `script-src 'nonce-once' 'strict-dynamic' ${directives}; base-uri 'none'` },
      ofPackage: {},
      address,
      attributes: 'nonce="once"',
    });
  expect(await under('', '/package/dist/index.js')).toBe('installed 1');
  const elsewhere = `${cdn.url}/package/dist/index.js`;
  expect(await under('', elsewhere)).toBe('failed WASM_UNAVAILABLE');
  expect(await under("'wasm-unsafe-eval'", elsewhere)).toBe('installed 1');
});

test('a page with an Integrity-Policy needs an import map that has the integrity of the scripts', async ({
  page,
  site,
  fixtures,
}) => {
  const address = '/package/dist/index.js';
  const digest = (bytes: string | Buffer) => `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
  const scripts = readdirSync(packageFolder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const integrity = Object.fromEntries(
    scripts.map((name) => [`/package/${name}`, digest(readFileSync(join(packageFolder, name)))]),
  );
  const policy = { 'integrity-policy': 'blocked-destinations=(script)' };
  const served = {
    ofPage: policy,
    ofPackage: policy,
    address,
    attributes: `integrity="${digest(script(fixtures.url, address))}"`,
  };
  const head = `<script type="importmap">${JSON.stringify({ integrity })}</script>`;
  expect(await outcome(page, site, fixtures.url, { ...served, head })).toBe('installed 1');
});
