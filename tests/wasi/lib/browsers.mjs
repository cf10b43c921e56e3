// Chromium and Firefox, each with a page of a small site that has the command, the shim and Gantry's own package.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { launch } from 'puppeteer-core';
import { module } from './hosts.mjs';
import { quickJs } from './quickjs.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};
const folders = {
  '/engine/': dirname(quickJs()),
  '/lib/': resolve(root, 'tests/wasi/lib'),
  '/pages/': resolve(root, 'tests/wasi/pages'),
  '/shim/': resolve(root, 'node_modules/@bjorn3/browser_wasi_shim/dist'),
  '/wasi/': dirname(module),
  '/web/': resolve(root, 'web'),
};

/** Serves the folders above on the loopback interface; `/wasi/gantry.wasm` is the command whatever its file is called. */
async function startSite() {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://site.test');
    const prefix = Object.keys(folders).find((start) => pathname.startsWith(start));
    const within = normalize(pathname.slice(prefix?.length));
    const file = pathname === '/wasi/gantry.wasm' ? module : join(folders[prefix] ?? '', within);
    if (pathname === '/')
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>blank</title>');
    else if (!prefix || within.startsWith('..') || !existsSync(file) || !statSync(file).isFile())
      response.writeHead(404).end();
    else {
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
      createReadStream(file).pipe(response);
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

function executable(variable, ...usual) {
  const path = [process.env[variable], ...usual].find((one) => one && existsSync(one));
  if (!path) throw new Error(`there is no browser: name one in ${variable}`);
  return path;
}

const start = {
  async Chromium() {
    const executablePath = executable('GANTRY_CHROMIUM', '/usr/bin/chromium');
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'];
    return chromium.launch({ executablePath, args });
  },
  async Firefox() {
    const executablePath = executable('GANTRY_FIREFOX', '/usr/bin/firefox-esr', '/usr/bin/firefox');
    return launch({ browser: 'firefox', executablePath, headless: true, timeout: 90_000, protocolTimeout: 300_000 });
  },
};

/** Names of the browsers. */
export const BROWSERS = Object.keys(start);

/** A page of each browser, by name, and what closes everything. */
export async function openPages() {
  const server = await startSite();
  const browsers = [];
  const close = async () => {
    for (const browser of browsers) await browser.close();
    server.closeAllConnections();
    server.close();
  };
  try {
    const pages = {};
    for (const [name, open] of Object.entries(start)) {
      browsers.push(await open());
      pages[name] = await browsers.at(-1).newPage();
      await pages[name].goto(`http://127.0.0.1:${server.address().port}/`);
    }
    return { pages, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Gives a task to a worker of the page and resolves to its answer. */
async function askWorker(page, script, task) {
  const outcome = await page.evaluate(
    ([address, data]) =>
      new Promise((settle) => {
        const worker = new Worker(address, { type: 'module' });
        worker.addEventListener('message', (event) => settle(event.data));
        worker.addEventListener('error', ({ message }) => settle({ problem: message }));
        worker.postMessage(data);
      }),
    [script, task],
  );
  if (outcome.problem) throw new Error(outcome.problem);
  return outcome;
}

/** Installs in a worker of the page, under the shim. Resolves to digest, lock, and how many tarballs were fetched. */
export const underShimIn = (page, task) => askWorker(page, '/pages/worker.js', task);

/** Has QuickJS render out of an installed project, in a worker that reads it by `gantry/sync`. */
export const renderIn = (page, project) => askWorker(page, '/pages/engine-worker.js', { project });

/** Installs by Gantry's own package, in the origin's storage. */
export function byPackageIn(page, packageJson, registry, project = 'default') {
  return page.evaluate(
    async ([text, url, name]) => {
      const { Gantry } = await import(`${location.origin}/web/dist/index.js`);
      const gantry = await Gantry.open({ registry: url });
      try {
        const installed = await gantry.install({ packageJson: text, project: name });
        return { lock: installed.lockfile, digest: await installed.treeDigest() };
      } finally {
        await gantry.close();
      }
    },
    [packageJson, registry, project],
  );
}
