// Where workloads run: the native program behind a pipe, the module and JavaScript in a worker of a page in Chromium, and
// Node. All take the same commands (../../micro/src/session.rs).
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { provideBrowsers } from '../../../scripts/lib/browsers.mjs';
import { ScriptSession } from '../../micro/page/script.js';
import { FreshBrowser } from '../browser/browsers.mjs';
import { Site } from '../browser/site.mjs';
import { benchFolder } from '../paths.mjs';

/** The page's clock then ticks every 5 µs instead of every 100. */
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

const SITE = 'micro';
const pageFolder = join(benchFolder, 'micro', 'page');
const total = (values) => values.reduce((sum, value) => sum + value, 0);

/** What only Node has. @type {Record<string, import('../../micro/page/script.js').Way>} */
const nodeWays = {
  'archive/inflate/node:zlib': async (items) => () => total(items.map(({ bytes }) => gunzipSync(bytes).length)),
  'archive/hash/node:crypto': async (items) => {
    const digest = (bytes) => createHash('sha512').update(bytes).digest('hex');
    const expected = items.map(({ bytes }) => digest(bytes));
    return () => total(items.map(({ bytes }, index) => (digest(bytes) === expected[index] ? 1 : 0)));
  },
};

/** @typedef {'native' | 'wasm' | 'Node' | 'page'} Place */

/**
 * Somewhere that takes commands.
 * @typedef {{ open: (file: string) => Promise<any>, command: (command: object) => Promise<any> }} Runner
 */

export class Places {
  /** @type {Record<Place, Runner>} */ #runners;
  #closers;

  constructor(runners, closers, browser) {
    this.#runners = runners;
    this.#closers = closers;
    /** What the page runs in. */
    this.browser = browser;
  }

  /**
   * Starts all of them.
   * @param {{ program: string, module: string, folder: string }} options `folder`: where inputs are written to
   */
  static async start({ program, module, folder }) {
    const { GANTRY_CHROMIUM: executable } = await provideBrowsers();
    const child = spawn(program, ['session'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const hosted = {
      name: SITE,
      headers: ISOLATED,
      folders: { 'module/': module, 'inputs/': folder, '': pageFolder },
    };
    const site = await new Site([hosted]).start();
    const browser = await FreshBrowser.start({ kind: 'chromium', executable, profile: join(folder, 'profile') });
    await browser.page.goto(site.addresses(SITE).page);
    const version = await browser.page.evaluate(() => navigator.userAgent.match(/Chrome\/[\d.]+/)?.[0]);
    const runners = {
      native: piped(child),
      wasm: inPage(browser.page, 'wasm'),
      page: inPage(browser.page, 'script'),
      Node: inNode(),
    };
    const stop = async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    };
    return new Places(runners, [() => browser.close(), () => site.stop(), stop], version);
  }

  /** @param {Place} place @param {string} file */
  async open(place, file) {
    return checked(place, basename(file), await this.#runners[place].open(file));
  }

  /** @param {Place} place @param {object} command */
  async command(place, command) {
    return checked(place, JSON.stringify(command), await this.#runners[place].command(command));
  }

  async close() {
    for (const close of this.#closers) await close();
  }
}

function checked(place, what, answer) {
  if (answer.error) throw new Error(`${place}, ${what}: ${answer.error}`);
  return answer;
}

/** @param {import('node:child_process').ChildProcess} child @returns {Runner} */
function piped(child) {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (command) => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('the native program ended');
    return JSON.parse(value);
  };
  return { open: (file) => ask({ open: file }), command: ask };
}

/** @param {import('../browser/browsers.mjs').Page} page @param {string} place @returns {Runner} */
function inPage(page, place) {
  const ask = (message) => page.evaluate((wanted) => globalThis.ask(wanted), { place, ...message });
  return { open: (file) => ask({ open: `inputs/${basename(file)}` }), command: (command) => ask({ command }) };
}

/** @returns {Runner} */
function inNode() {
  const session = new ScriptSession(nodeWays);
  return { open: async (file) => session.open(readFileSync(file)), command: (command) => session.command(command) };
}
