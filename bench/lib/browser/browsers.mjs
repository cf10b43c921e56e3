// A browser with a profile that has never been used, and what its renderer holds in memory as the kernel counts it.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { QuietChromium } from './chromium.mjs';

/** Installs of whole projects by the slowest peer over a slow network stay well below this. */
const PAGE_TIMEOUT = 300_000;

/** A browser rests when all of its processes took at most so many milliseconds of processor time within so many. */
const REST = { busy: 20, within: 300 };
/** A browser that never rests, in milliseconds. */
const RESTLESS = 10_000;
/** How long browsers take to start at most where there is no /proc to tell, in milliseconds. */
const START = 2_000;

const CHROMIUM_WORDS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--disable-default-apps',
  '--no-first-run',
  '--no-default-browser-check',
  // So that the page's renderer is the only one.
  '--disable-features=SpareRendererForSitePerProcess',
];

/** What the bench does with any page. Chromium's can do more: {@link QuietChromium}.
 * @typedef {{ goto: (url: string) => Promise<unknown>, reload: () => Promise<unknown>,
 *   evaluate: (script: any, argument?: any) => Promise<any> }} Page */

export class FreshBrowser {
  /** @param {'chromium' | 'firefox'} kind @param {string} profile @param {Page} page @param {() => Promise<unknown>} close */
  constructor(kind, profile, page, close) {
    this.kind = kind;
    this.profile = profile;
    this.page = page;
    this.#close = close;
  }

  #close;

  /** Starts one. `profile` must not exist yet, unless it is `used` on purpose: that it is new is the first half of the proof
   * that nothing is cached. `trusting`: whatever the certificate of a server.
   * @param {{ kind: 'chromium' | 'firefox', executable: string, profile: string, used?: boolean, trusting?: boolean }} options */
  static async start({ kind, executable, profile, used = false, trusting = false }) {
    if (existsSync(profile) !== used) throw new Error(used ? `no ${profile}` : `${profile} has been used before`);
    mkdirSync(profile, { recursive: true });
    return kind === 'chromium'
      ? startChromium(executable, profile, trusting)
      : startFirefox(executable, profile, trusting);
  }

  /** Bytes of the page's process: now, and the most since it began; `undefined` where there is no /proc to tell.
   * @returns {{ now: number, peak: number } | undefined} */
  memory() {
    if (!existsSync('/proc/self/status')) return undefined;
    const marks = { chromium: '--type=renderer', firefox: '-isForBrowser' };
    const found = processes(this.profile)
      .filter(({ command }) => command.some((word) => word.includes(marks[this.kind])))
      .map(({ status }) => ({ now: kilobytes(status, 'VmRSS'), peak: kilobytes(status, 'VmHWM') }));
    // Firefox keeps content processes ready; the page's is the one that grew.
    const [page] = found.sort((one, other) => other.peak - one.peak);
    if (!page)
      throw new Error(`no process with ${marks[this.kind]} belongs to the browser with profile ${this.profile}`);
    return page;
  }

  /** Waits until the browser does nothing of its own any more. Chromium loads the page of its address bar's list after the
   * first page is there: half a second of processor time, which the first install would have to share its cores with. */
  async rest() {
    const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    if (!existsSync('/proc/self/stat')) return wait(START);
    const begun = Date.now();
    for (let before = processorTime(this.profile); ; ) {
      await wait(REST.within);
      const now = processorTime(this.profile);
      if (now - before <= REST.busy) return undefined;
      if (Date.now() - begun > RESTLESS) throw new Error(`the browser was still busy after ${RESTLESS / 1000} s`);
      before = now;
    }
  }

  /** Ends it and removes its profile, or puts that away. @param {string} [keepAs] */
  async close(keepAs) {
    await this.#close();
    if (keepAs) renameSync(this.profile, keepAs);
    else rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function startChromium(executablePath, profile, trusting) {
  const trust = trusting ? ['--ignore-certificate-errors'] : [];
  const words = [...CHROMIUM_WORDS, ...trust, `--user-data-dir=${profile}`];
  const page = await QuietChromium.start(executablePath, words);
  return new FreshBrowser('chromium', profile, page, () => page.close());
}

async function startFirefox(executablePath, userDataDir, acceptInsecureCerts) {
  const { launch } = await import('puppeteer-core');
  const options = {
    executablePath,
    userDataDir,
    headless: true,
    acceptInsecureCerts,
    protocolTimeout: 2 * PAGE_TIMEOUT,
  };
  const browser = await launch({ browser: 'firefox', ...options });
  const page = await browser.newPage();
  return new FreshBrowser('firefox', userDataDir, page, () => browser.close());
}

/** Waits for a call in the page, but not for ever. @template T @param {string} name @param {Promise<T>} call @returns {Promise<T>} */
export async function inTime(name, call) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer to ${name} within ${PAGE_TIMEOUT / 1000} s`)), PAGE_TIMEOUT);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The browser that uses a profile, and everything it started. @param {string} profile */
function processes(profile) {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        const status = readFileSync(join('/proc', id, 'status'), 'utf8');
        const command = readFileSync(join('/proc', id, 'cmdline'), 'utf8').split('\0');
        return [{ id, parent: /^PPid:\s+(\d+)/m.exec(status)?.[1] ?? '', command, status }];
      } catch {
        return []; // it ended
      }
    });
  const family = new Set(
    all.filter(({ command }) => command.some((word) => word.includes(profile))).map(({ id }) => id),
  );
  for (let size = -1; size !== family.size; ) {
    size = family.size;
    for (const { id, parent } of all) if (family.has(parent)) family.add(id);
  }
  return all.filter(({ id }) => family.has(id));
}

/** Milliseconds that a browser's processes have had a core, by the kernel's ticks of 10. @param {string} profile */
function processorTime(profile) {
  const ticks = processes(profile).map(({ id }) => {
    try {
      const [, fields] = /\) (.*)/s.exec(readFileSync(join('/proc', id, 'stat'), 'utf8')) ?? [];
      const [user, system] = fields?.split(' ').slice(11, 13).map(Number) ?? [0, 0];
      return user + system;
    } catch {
      return 0; // it ended
    }
  });
  return 10 * ticks.reduce((sum, one) => sum + one, 0);
}

const kilobytes = (status, field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) * 1024;
