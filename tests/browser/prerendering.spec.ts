/**
 * Pages that are prerendered: no worker starts there before somebody comes. Chromium prerenders none that it is driven in, so here
 * it runs by itself, and its pages ask the site for what they have to tell.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LaunchOptions } from '@playwright/test';
import { expect, test } from './support/fixtures.js';

/** Opens an address in a Chromium of its own until the result is called. */
function visit(address: string, { executablePath, args = [] }: LaunchOptions): () => Promise<void> {
  if (!executablePath) throw new Error('there is no Chromium: name one in GANTRY_CHROMIUM');
  const profile = mkdtempSync(join(tmpdir(), 'gantry-prerendering-'));
  const words = ['--headless=new', '--no-first-run', `--user-data-dir=${profile}`, ...args, address];
  // In a group of its own, with which its own processes end.
  const browser = spawn(executablePath, words, { stdio: 'ignore', detached: true });
  const ended = new Promise((resolve) => browser.once('exit', resolve));
  return async () => {
    if (browser.pid) process.kill(-browser.pid, 'SIGKILL');
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
  };
}

test('a page that is prerendered opens its store once somebody comes to it, however late', async ({
  site,
  fixtures,
  launchOptions,
}) => {
  site.pages.set(
    '/before',
    `<!doctype html><title>before</title>
<script type="speculationrules">{ "prerender": [{ "urls": ["/prerendered"], "eagerness": "immediate" }] }</script>
<script>
  const ask = setInterval(async () => {
    if ((await (await fetch('/told/')).text()) !== 'late') return;
    clearInterval(ask);
    location.href = '/prerendered';
  }, 100);
</script>`,
  );
  site.pages.set(
    '/prerendered',
    `<!doctype html><title>prerendered</title>
<script type="module">
  const own = setTimeout;
  // What takes minutes takes a second.
  globalThis.setTimeout = (call, milliseconds) => own(call, document.prerendering ? milliseconds / 100 : milliseconds);
  const tell = (what) => fetch('/told/?' + encodeURIComponent(what));
  const { Gantry } = await import('/package/dist/index.js');
  const isEarly = document.prerendering;
  const stopped = Gantry.open({ registry: '${fixtures.url}', signal: AbortSignal.abort() }).catch(({ code }) => code);
  const opening = Gantry.open({ registry: '${fixtures.url}', timeout: 1 });
  const removing = Gantry.remove({ store: 'another', timeout: 1 });
  // Longer than any of its time-outs.
  own(() => tell('late'), 1500);
  try {
    const gantry = await opening;
    const { packages } = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
    await tell(['installed', packages, isEarly, await stopped, await removing].join(' '));
  } catch (error) {
    await tell('failed ' + error);
  }
</script>`,
  );
  const told: string[] = [];
  site.answering.set('/told/', ({ search }, response) => {
    if (search) told.push(decodeURIComponent(search.slice(1)));
    response.writeHead(200, { 'content-type': 'text/plain' }).end(told.at(-1));
  });
  const leave = visit(`${site.url}/before`, launchOptions);
  try {
    await expect.poll(() => told, { timeout: 60_000 }).toHaveLength(2);
    expect(told).toEqual(['late', 'installed 1 true ABORTED false']);
  } finally {
    await leave();
    site.answering.delete('/told/');
  }
});
