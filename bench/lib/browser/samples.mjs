// One visit to a page: in a browser whose profile is new, an installer goes through phases that build on each other, and
// each is measured and checked. A visit is thrown away and repeated when one of its samples is not what it claims to be.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { judgeTree } from '../correctness.mjs';
import { say } from '../paths.mjs';
import { FRESH_SECONDS, STALE_SECONDS } from '../phases.mjs';
import { FreshBrowser, inTime } from './browsers.mjs';

/** Other trees than npm's may be a little smaller, never by much unless the tool's settings say so. */
const ALL_BUT_A_FEW = 0.9;
/** A request that nobody waits for any more may still be under way when an install ends. */
const SETTLE = 2000;
/** What the second project of an origin is called. */
const SECOND = 'second';

/**
 * What the phases are.
 * @typedef {object} BrowserPhase
 * @property {string} name
 * @property {string} what
 * @property {boolean} fresh whether it is the first in its page's life
 * @property {boolean} [again] whether the page is loaded once more for it
 * @property {boolean} [aged] whether it begins a page of an origin that was filled long before, by `cold`
 * @property {string} [project] the project's name, where it is not the one that all others install
 * @property {boolean} [offline] whether nobody may be asked, which the installer is told
 * @property {boolean} [memory] whether the renderer's peak says something about it
 * @property {boolean} [documents] `true`: without documents it was not cold; `false`: there is nothing to resolve
 * @property {boolean} [tarballs] `true`: it was not cold without them
 */

/** @type {BrowserPhase[]} */
export const browserPhases = [
  {
    name: 'cold',
    what: 'from package.json, nothing cached',
    fresh: true,
    memory: true,
    documents: true,
    tarballs: true,
  },
  { name: 'reload', what: 'the same again in a reloaded page', fresh: false, again: true },
  { name: 'added', what: 'one package added, in the page where the project is installed', fresh: false },
  {
    name: 'second',
    what: `a second project of the same package.json, no lock, all stored less than ${FRESH_SECONDS} s ago`,
    fresh: false,
    again: true,
    project: SECOND,
  },
  {
    name: 'lock',
    what: 'from npm’s lock, nothing cached',
    fresh: true,
    memory: true,
    documents: false,
    tarballs: true,
  },
  {
    name: 'second-stale',
    what: `a second project of the same package.json, no lock, all stored more than ${STALE_SECONDS} s ago`,
    fresh: false,
    aged: true,
    memory: true,
    project: SECOND,
  },
  {
    name: 'second-offline',
    what: 'the same, and nobody may be asked; Gantry alone',
    fresh: false,
    aged: true,
    memory: true,
    project: SECOND,
    offline: true,
  },
];

/** Phases that share a page, in the order in which they happen. */
export const visits = [['cold', 'reload', 'added', 'second'], ['lock'], ['second-stale'], ['second-offline']];

/** @typedef {{ requests: number, tarballs: number, documents: number, bytes: number }} Traffic */

/**
 * One phase's result: a sample, or why there is none. `fatal`: the installer itself failed.
 * @typedef {{ sample?: any, traffic?: Traffic, failure?: string, fatal?: boolean }} Outcome
 */

/** A profile whose origin `cold` has filled, put away. `at`: when that ended, in milliseconds of the clock.
 * @typedef {{ profile: string, at: number }} Filled */

export class Visitor {
  #count = 0;

  /**
   * @param {{ site: import('./site.mjs').Site, registry: import('../registry.mjs').Registry,
   *   workspace: import('../workspace.mjs').Workspace, executables: Record<string, string>, workers: number }} options
   */
  constructor(options) {
    Object.assign(this, options);
  }

  /**
   * Goes through the phases until one fails.
   * @param {import('./tools.mjs').BrowserTool} tool
   * @param {{ project: string, judge: import('./judge.mjs').BrowserJudge }} subject
   * @param {BrowserPhase[]} phases
   * @param {(phase: string) => Traffic | undefined} expected what the first sample of that phase caused
   * @param {{ filled?: Filled, keepAs?: string }} [origin] begins with a copy of that profile; puts the profile away there
   * @returns {Promise<Record<string, Outcome>>}
   */
  async visit(tool, subject, phases, expected, { filled, keepAs } = {}) {
    const profile = join(this.workspace.folder, `profile-${this.#count++}`);
    if (filled) cpSync(filled.profile, profile, { recursive: true });
    const browser = await FreshBrowser.start({
      used: filled !== undefined,
      kind: tool.browser,
      executable: this.executables[tool.browser],
      profile,
      trusting: this.registry.certificate !== undefined,
    });
    /** @type {Record<string, Outcome>} */
    const outcomes = {};
    let filledAt = filled?.at;
    try {
      const { page: address, empty } = this.site.addresses(tool.name);
      await browser.page.goto(empty);
      const emptyMemory = browser.memory()?.now;
      await browser.page.goto(address);
      for (const phase of phases) {
        const outcome = await this.#phase({
          tool,
          subject,
          browser,
          emptyMemory,
          phase,
          expected: expected(phase.name),
          filledAt,
        });
        outcomes[phase.name] = outcome;
        if (outcome.failure) break;
        if (phase.name === 'cold') filledAt = Date.now();
      }
    } finally {
      await browser.close(keepAs);
    }
    return outcomes;
  }

  /** Fills an origin by a cold install and puts its profile away to age. @param {import('./tools.mjs').BrowserTool} tool
   * @param {{ project: string, judge: import('./judge.mjs').BrowserJudge }} subject
   * @returns {Promise<Filled>} */
  async fill(tool, subject) {
    const cold = browserPhases.filter(({ name }) => name === 'cold');
    const profile = join(this.workspace.folder, `filled-${this.#count++}`);
    const { cold: outcome } = await this.visit(tool, subject, cold, () => undefined, { keepAs: profile });
    if (outcome.failure) throw new Error(outcome.failure);
    return { profile, at: Date.now() };
  }

  /** @returns {Promise<Outcome>} */
  async #phase({ tool, subject, browser, emptyMemory, phase, expected, filledAt }) {
    const { project, judge } = subject;
    const call = (name, argument) => callPage(browser.page, name, argument);
    let traffic;
    try {
      if (phase.again) await browser.page.reload();
      let start;
      if (phase.fresh || phase.again || phase.aged) {
        await this.#prove(call, { tool, project, phase, filledAt });
        await browser.rest();
        start =
          (await call('start', {
            registry: tool.address?.(this.registry.url) ?? this.registry.url,
            workers: this.workers,
            project: phase.project,
          })) / 1000;
      }
      const filledSecondsAgo = phase.project === SECOND ? (Date.now() - filledAt) / 1000 : undefined;
      if (phase.aged ? filledSecondsAgo < STALE_SECONDS : filledSecondsAgo > FRESH_SECONDS)
        return { failure: `all was stored ${filledSecondsAgo.toFixed(0)} s ago` };
      await this.registry.reset();
      const measured = await call('install', taskFor(phase, judge, tool));
      traffic = await this.#traffic();
      const most = phase.memory ? browser.memory()?.peak : undefined;
      const peak = most === undefined ? undefined : most - emptyMemory;
      const failure = reasonToReject({ traffic, phase, tool, judge, expected });
      if (failure) return { failure, traffic };
      const verdict = tool.foresees ? undefined : await this.#verdict(call, phase, judge);
      const { requests, tarballs, bytes } = traffic;
      const sample = {
        wall: measured.wall / 1000,
        start,
        longestTask: measured.longestTask === undefined ? undefined : measured.longestTask / 1000,
        peakAboveEmpty: peak,
        emptyMemory: phase.memory ? emptyMemory : undefined,
        requests,
        tarballs,
        bytes,
        filledSecondsAgo,
        verdict,
      };
      return { sample, traffic };
    } catch (error) {
      const misses = (await this.#traffic()).misses;
      const missing = misses.length > 0 ? `; not in the recording: ${misses.slice(0, 5).join(' ')}` : '';
      return { failure: `${error.message}${missing}`, fatal: true, traffic };
    }
  }

  /** What the page's origin holds before anything of the installer has run; nothing, in a page that has to be fresh. */
  async #prove(call, { tool, project, phase, filledAt }) {
    const { names, usage } = await call('stored');
    const held = names.length === 0 ? 'nothing in OPFS, IndexedDB, Cache, localStorage' : names.join(', ');
    const used = phase.aged
      ? `copy of a profile filled ${((Date.now() - filledAt) / 1000).toFixed(0)} s ago`
      : 'profile of this visit';
    const profile = phase.fresh ? 'profile made for this visit' : used;
    say('prep', `${project} ${phase.name} ${tool.name}: ${profile}; ${held}; ${usage} bytes in use`);
    if (phase.fresh && names.length > 0) throw new Error(`a fresh page holds ${held}`);
  }

  async #verdict(call, phase, judge) {
    const chosen = phase.name === 'added' ? judge.withAddition : judge.plain;
    const found = await call('packages');
    const byPath = new Map(found.map(({ path, name, version }) => [path, `${name}@${version}`]));
    const byIdentity = new Map(found.map(({ path, name, version }) => [`${name}@${version}`, path]).reverse());
    const wanted = [];
    judgeTree(chosen, { byPath, byIdentity }, (path) => wanted.push(path) && undefined);
    const digests = await call('digests', wanted);
    const byFile = new Map(wanted.map((path, at) => [path, digests[at] ?? undefined]));
    return judgeTree(chosen, { byPath, byIdentity }, (path) => byFile.get(path));
  }

  async #traffic() {
    const until = Date.now() + SETTLE;
    let counts = await this.registry.counts({ log: true });
    while (counts.in_flight > 0 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      counts = await this.registry.counts({ log: true });
    }
    return {
      requests: counts.requests,
      tarballs: counts.tarballs,
      documents: counts.full_packuments + counts.abbreviated_packuments,
      bytes: counts.bytes,
      misses: (counts.log ?? []).filter((entry) => entry.miss).map((entry) => entry.path),
      upstream: counts.upstream_fetches,
    };
  }
}

/** @param {BrowserPhase} phase @param {import('./judge.mjs').BrowserJudge} judge @param {import('./tools.mjs').BrowserTool} tool */
function taskFor({ name, offline }, { manifest, lock, addition }, { foresees }) {
  if (offline) return { manifest, offline };
  if (name === 'lock') return { manifest, lock };
  if (foresees) return { manifest, foreseen: lock };
  return name === 'added' ? { manifest: addition.manifest, added: addition } : { manifest };
}

/** @param {import('./browsers.mjs').Page} page @param {string} name @param {any} argument */
async function callPage(page, name, argument) {
  const ready = 'new Promise((done) => { const wait = () => globalThis.bench ? done() : setTimeout(wait, 5); wait() })';
  await page.evaluate(ready);
  const words = argument === undefined ? '' : JSON.stringify(argument);
  const { result, failure } = await inTime(name, page.evaluate(`globalThis.bench.${name}(${words})`));
  if (failure !== undefined) throw new Error(failure);
  return result;
}

/** Why a sample does not count; `undefined` if it does. */
function reasonToReject({ traffic, phase, tool, judge, expected }) {
  const needed = judge.plain.tarballs;
  if (traffic.upstream > 0) return `${traffic.upstream} fetches from upstream`;
  if (traffic.misses.length > 0) return `not in the recording: ${traffic.misses.slice(0, 5).join(' ')}`;
  if (phase.offline && traffic.requests > 0) return `${traffic.requests} requests although nobody was to be asked`;
  if (phase.documents === true && traffic.documents === 0) return 'no document was asked for: something was reused';
  if (phase.documents === false && traffic.documents > 0) {
    return `${traffic.documents} documents were asked for although npm’s lock was there: the lock is not used`;
  }
  if (phase.tarballs && traffic.tarballs < needed * (tool.fewest ?? ALL_BUT_A_FEW)) {
    return `${traffic.tarballs} tarballs asked for where npm needs ${needed}`;
  }
  if (!expected) return undefined;
  for (const what of /** @type {const} */ (['tarballs', 'requests', 'bytes'])) {
    const basis = Math.max(expected[what], what === 'tarballs' ? needed : 0);
    const allowed = tool.slack.phases.includes(phase.name) ? basis * tool.slack[what] : 0;
    if (Math.abs(traffic[what] - expected[what]) > allowed)
      return `${traffic[what]} ${what}, expected ${expected[what]}`;
  }
  return undefined;
}
