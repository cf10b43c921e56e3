/**
 * A random course of one store over several tabs, as a seed decides it, and what has to hold of it: every tree is the one that
 * the native command makes of its lock, what was reported is there, nothing is damaged, no call hangs, and none fails without a
 * reason (allowed.ts). How long everything takes is not decided by the seed: two runs of one differ in what comes first.
 */
import { Dice } from '../../../cli/lib/random/dice.mjs';
import { FaultyRegistry } from '../../../cli/lib/random/faulty-registry.mjs';
import { makePackages } from '../../../cli/lib/random/packages.mjs';
import type { Site } from '../site.js';
import { allowedCodes, type Circumstances, LACKING } from './allowed.js';
import { type Call, Calls, isOfReader } from './calls.js';
import { makeFault } from './faults.js';
import { Installs } from './installs.js';
import { changesBetween } from './locks.js';
import { NativeTrees } from './native-trees.js';
import { isReported, Projects } from './projects.js';
import { Report, short } from './report.js';
import { type CourseBrowser, type Installed, type ProjectState, Tab } from './tab.js';
import { Upkeep } from './upkeep.js';
import { end, makeVictim } from './victim.js';

export class Course {
  readonly #dice: Dice;
  readonly #storage: 'opfs' | 'memory';
  readonly #report = new Report();
  readonly #projects = new Projects();
  readonly #registry: FaultyRegistry;
  readonly #native: NativeTrees;
  readonly #installs: Installs;
  readonly #calls: Calls;
  readonly #tabs: readonly Tab[];
  readonly #upkeep: Upkeep;
  /** Whether something stored has been damaged, or was lost with a worker, and is not mended yet. */
  #isDamaged = false;

  private constructor(
    dice: Dice,
    registry: FaultyRegistry,
    parts: { universe: ReturnType<typeof makePackages>; browser: CourseBrowser; site: Site },
  ) {
    this.#dice = dice;
    this.#registry = registry;
    const { universe, browser, site } = parts;
    this.#storage = dice.chance(0.15) ? 'memory' : 'opfs';
    this.#native = new NativeTrees(registry.url);
    this.#installs = new Installs(dice, universe);
    this.#calls = new Calls(dice, { universe, installs: this.#installs, hasReaders: this.#storage === 'opfs' });
    const onProblem = (problem: string) => this.#report.problem(problem);
    const address = `${site.url}/pages/blank.html`;
    // A store in memory is of one tab.
    const count = this.#storage === 'memory' ? 1 : dice.between(1, 4);
    this.#tabs = Array.from({ length: count }, (_, index) => new Tab(`tab${index}`, { browser, address, onProblem }));
    this.#upkeep = new Upkeep({
      ...{ dice, registry, report: this.#report, projects: this.#projects, native: this.#native, tabs: this.#tabs },
    });
  }

  static async run(
    seed: number,
    rounds: number,
    { browser, site }: { browser: CourseBrowser; site: Site },
  ): Promise<Report> {
    const dice = new Dice(seed);
    const universe = makePackages(dice);
    const registry = await new FaultyRegistry({ isForPages: true }).start(universe);
    const course = new Course(dice, registry, { universe, browser, site });
    const report = course.#report;
    try {
      await course.#begin();
      while (report.round < rounds && report.problems.length === 0) await course.#play();
      if (report.problems.length === 0) await course.#upkeep.run(course.#isDamaged);
      if (report.problems.length === 0) await course.#closeAll();
    } finally {
      course.#native.remove();
      await Promise.all(course.#tabs.map((tab) => tab.close()));
      await registry.stop();
    }
    return report;
  }

  async #begin(): Promise<void> {
    this.#report.note(`${this.#storage}, ${this.#tabs.length} tabs`);
    await Promise.all(this.#tabs.map((tab) => tab.load()));
    await this.#openSome();
  }

  async #open(tab: Tab): Promise<void> {
    const options = { registry: this.#registry.url, storage: this.#storage, workers: this.#dice.between(1, 3) };
    const outcome = await tab.run('open', options);
    if (outcome.code || outcome.ended) this.#report.problem(`${tab.name} open: ${JSON.stringify(outcome)}`);
    tab.isOpen = true;
  }

  /** Not all: some come later. */
  async #openSome(): Promise<void> {
    for (const tab of this.#tabs) if (tab === this.#tabs[0] || this.#dice.chance(0.6)) await this.#open(tab);
  }

  get #openTabs(): Tab[] {
    return this.#tabs.filter(({ isOpen }) => isOpen);
  }

  async #play(): Promise<void> {
    this.#report.round++;
    const others = { publish: 1, damage: 1, 'remove the store': 1 };
    const kind = this.#dice.weighted({ calls: 17, ...(this.#storage === 'opfs' && others) });
    if (kind === 'publish') this.#publish();
    if (kind === 'damage') await this.#damage();
    else if (kind === 'remove the store') await this.#removeStore();
    else await this.#callSome();
    await this.#look();
  }

  #publish(): void {
    this.#registry.publish();
    this.#report.note('published');
  }

  async #callSome(): Promise<void> {
    const dice = this.#dice;
    const calls = this.#calls.some(this.#openTabs, dice.chance(0.5) ? 1 : dice.between(2, 8));
    const fault = makeFault(dice);
    const share = dice.one([0.1, 0.5, 1]);
    const victim = dice.chance(0.25) ? makeVictim(dice, dice.one(this.#openTabs), this.#storage) : undefined;
    if (fault) {
      this.#registry.fail(fault, share);
      this.#report.note(`registry: ${JSON.stringify(fault)} ${share}`);
    }
    if (victim) this.#report.note(`${victim.tab.name}: the ${victim.what} ends after ${victim.after} ms`);
    const hadReaders = this.#tabs.some(({ hasReader }) => hasReader);
    await Promise.all([...calls.map((call) => this.#call(call)), victim && end(victim)]);
    this.#registry.healthy();
    // It takes what it has of the store along.
    const isInMemory = this.#storage === 'memory';
    if (victim?.what === 'unpack worker' && isInMemory) this.#isDamaged = true;
    const hasReaders = hadReaders || calls.some(({ action }) => isOfReader(action) || /^(tar|zip)$/.test(action));
    const isCleared = calls.some(({ action }) => action === 'clear');
    const circumstances = {
      fault,
      victim,
      hasReaders,
      isInMemory,
      isDamaged: this.#isDamaged,
      isCleared,
      isBusy: calls.length > 1,
    };
    for (const call of calls) this.#judge(call, circumstances);
    const [only] = calls;
    if (only && calls.length === 1 && !this.#isDamaged) this.#judgeChanges(only);
    this.#projects.expect(calls);
    await this.#renew();
  }

  async #call(call: Call): Promise<void> {
    const { tab, action, argument, delay, abortAfter } = call;
    await new Promise((resume) => setTimeout(resume, delay));
    const began = performance.now();
    call.outcome = await tab.run(action, argument, abortAfter);
    const { result, code, ended } = call.outcome;
    const told = ended ? `ends ${ended}` : (code ?? short(result));
    const aborted = abortAfter === undefined ? '' : ` aborted after ${abortAfter}`;
    const took = Math.round(performance.now() - began);
    this.#report.note(`${tab.name} ${action} ${short(argument)}${aborted} +${delay} ${took} ms → ${told}`);
    if (isReported(call) && action === 'install') {
      const { lockfile, packageJson } = result as Installed;
      const manifest = packageJson === undefined ? argument.packageJson : JSON.parse(packageJson);
      this.#installs.note(argument.project as string, manifest, lockfile);
    }
    if (action === 'openReader') tab.hasReader = isReported(call);
    if (/^(close|end)Reader$/.test(action)) tab.hasReader = false;
  }

  #judge(call: Call, circumstances: Circumstances): void {
    const { tab, action, argument, outcome } = call;
    const { code, ended, result } = outcome;
    const told = `${tab.name} ${action} ${JSON.stringify(argument)}: ${JSON.stringify(outcome)}`;
    if (ended === 'never') this.#report.problem(`hangs: ${told}`);
    else if (ended) {
      if (circumstances.victim?.tab !== tab) this.#report.problem(`gone: ${told}`);
    } else if (code !== undefined) {
      if (!allowedCodes(call, circumstances).has(code)) this.#report.problem(`unexpected ${code}: ${told}`);
    } else if (action === 'verify' && !this.#isDamaged && (result as { damaged: string[] }).damaged.length > 0) {
      this.#report.problem(`damaged: ${told}`);
    }
  }

  /** What an install says that it changed is what it did. */
  #judgeChanges(call: Call): void {
    if (call.action !== 'install' || !isReported(call)) return;
    const { lockfile, changes } = call.outcome.result as Installed;
    const before = this.#projects.known.get(call.argument.project as string)?.lockfile;
    const expected = sorted(changesBetween(before, lockfile));
    const { added, removed, replaced } = changes;
    const told = sorted({ added, removed, replaced });
    if (told !== expected) this.#report.problem(`an install changed ${expected}, and told ${told}`);
  }

  async #renew(): Promise<void> {
    for (const tab of this.#tabs) {
      if (!tab.isDisturbed) continue;
      await tab.load();
      await this.#open(tab);
    }
    const idle = this.#tabs.find(({ isOpen }) => !isOpen);
    if (idle && this.#dice.chance(0.3)) await this.#open(idle);
  }

  /** Looks at what is there now, from one tab or from all. */
  async #look(): Promise<void> {
    const tabs = this.#dice.chance(0.3) ? this.#openTabs : [this.#dice.one(this.#openTabs)];
    const looks: Record<string, ProjectState>[] = [];
    for (const tab of tabs) {
      const { result, ...failure } = await tab.run('state');
      if (!result) return this.#report.problem(`${tab.name} state: ${JSON.stringify(failure)}`);
      looks.push(result);
    }
    const [found = {}] = looks;
    // What is damaged leaves the store as it is found.
    const different = looks.find((other) => JSON.stringify(other) !== JSON.stringify(found));
    if (different && !this.#isDamaged)
      this.#report.problem(`tabs differ: ${JSON.stringify(found)} and ${JSON.stringify(different)}`);
    for (const problem of this.#projects.found(found)) this.#report.problem(problem);
    let lacks = false;
    for (const [project, { lockfile, digest, code = '' }] of this.#projects.known) {
      if (this.#isDamaged && LACKING.includes(code)) lacks = true;
      else if (digest !== (await this.#native.digest(lockfile)))
        this.#report.problem(`${project} is not as the native command makes it: ${digest ?? code} of ${lockfile}`);
    }
    if (this.#report.problems.length > 0) return;
    if (lacks) await this.#upkeep.mend();
    if (lacks || this.#dice.chance(0.3)) {
      await this.#upkeep.run(this.#isDamaged);
      this.#isDamaged = false;
    }
  }

  async #closeAll(): Promise<void> {
    for (const tab of this.#tabs) {
      await this.#upkeep.endReader(tab);
      if (!tab.isOpen) continue;
      const { code, ended } = await tab.run('close');
      if (code || ended) this.#report.problem(`${tab.name} close: ${code ?? ended}`);
      tab.isOpen = false;
    }
  }

  async #damage(): Promise<void> {
    await this.#closeAll();
    const { result, code, message } = await (this.#tabs[0] as Tab).run('damage', {
      at: this.#dice.between(0, 9999) / 10_000,
    });
    if (code) this.#report.problem(`damage: ${code} ${message}`);
    this.#report.note(`damaged ${result}`);
    this.#isDamaged ||= result !== undefined;
    await this.#openSome();
    if (this.#dice.chance(0.5)) await this.#callSome();
  }

  async #removeStore(): Promise<void> {
    await this.#closeAll();
    const tab = this.#dice.one(this.#tabs);
    const outcome = await tab.run('removeStore');
    this.#report.note(`${tab.name} removed the store: ${outcome.code ?? outcome.result}`);
    if (outcome.result !== true) this.#report.problem(`removing the store: ${JSON.stringify(outcome)}`);
    this.#projects.forgetAll();
    this.#isDamaged = false;
    await this.#openSome();
  }
}

const sorted = (changes: Record<string, readonly string[]>) =>
  JSON.stringify(Object.fromEntries(Object.entries(changes).map(([kind, folders]) => [kind, [...folders].sort()])));
