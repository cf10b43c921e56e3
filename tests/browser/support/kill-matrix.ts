/**
 * The kill matrix: workers, pages and browsers ended at random moments of a scenario (pages/kill-matrix.js), and what is
 * then found in the store. Half of the moments are spread over the stages of the scenario and the time that each takes, the
 * other half over what it does to storage: there a worker has stopped in the midst of an operation, with half of a write done.
 */
import type { BrowserContext, Page } from '@playwright/test';
import type { Profile } from './profile.js';
import type { Random } from './random.js';
import type { Site } from './site.js';
import type { Stop, StorageOperation, StorageWatch } from './storage-watch.js';

export const VICTIMS = ['coordinator', 'unpack worker', 'page', 'browser'] as const;
export type Victim = (typeof VICTIMS)[number];

/** When a victim is ended: after milliseconds of the scenario, or in an operation. */
export type Moment = { after: number } | { stop: Stop };

export interface Outcome {
  victim: Victim;
  moment: Moment;
  /** Where the scenario was. */
  stage: string;
  /** What is wrong with what was found; nothing, if all is well. */
  problems: string[];
}

/** An undisturbed scenario. */
export interface Course {
  milliseconds: number;
  /** When each began, in milliseconds after the first. */
  stages: { stage: string; began: number }[];
  operations: StorageOperation[];
  /** Of each project, and of the two states of the one that is installed twice. */
  digests: Record<'kept' | 'aside' | 'first' | 'second', string>;
}

interface Look {
  found: Record<'kept' | 'aside' | 'main', string | undefined>;
  damaged: string[];
  broken: string[];
  missing: number;
  after: { kept: string; main: string };
}

interface Matrix {
  undisturbed(registry: string): Promise<Course['digests']>;
  prepare(registry: string): Promise<void>;
  work(registry: string): Promise<string | undefined>;
  look(registry: string): Promise<Look>;
  end(name: string): Promise<void>;
}

/** What a scenario has told. */
interface Told {
  stage: string;
  reported: Set<string>;
}

const UNPACK_WORKERS = ['gantry-unpack-0', 'gantry-unpack-1'];

export class KillMatrix {
  readonly #site: Site;
  readonly #registry: string;
  readonly #profile: Profile;
  readonly #watch: StorageWatch;
  readonly #random: Random;
  readonly #bound = new WeakSet<BrowserContext>();
  #told: Told = { stage: '', reported: new Set() };
  #stages: { stage: string; began: number }[] = [];
  #onOpening: () => void = () => {};

  constructor(parts: { site: Site; registry: string; profile: Profile; watch: StorageWatch; random: Random }) {
    this.#site = parts.site;
    this.#registry = parts.registry;
    this.#profile = parts.profile;
    this.#watch = parts.watch;
    this.#random = parts.random;
  }

  /** Run the scenario twice, in pages that have done nothing before: for its time, and for what it does to storage. */
  async course(): Promise<Course> {
    const problems: (string | undefined)[] = [];
    const inNewPage = async <T>(run: (page: Page) => Promise<T>): Promise<T> => {
      const page = await this.#page();
      const result = await run(page);
      await page.close();
      return result;
    };
    const digests = await inNewPage((page) => this.#call(page, 'undisturbed'));
    const timed = await inNewPage(async (page) => {
      await this.#call(page, 'prepare');
      this.#stages = [];
      problems.push(await this.#call(page, 'work'));
      const began = this.#stages[0]?.began ?? 0;
      const stages = this.#stages.map((one) => ({ ...one, began: one.began - began }));
      return { stages, milliseconds: performance.now() - began };
    });
    const operations = await inNewPage(async (page) => {
      await this.#call(page, 'prepare');
      const operations = this.#watch.record();
      problems.push(await this.#call(page, 'work'));
      return operations();
    });
    const course = { ...timed, operations, digests };
    if (problems.some((problem) => problem !== undefined)) throw new Error(`the scenario fails: ${problems}`);
    return course;
  }

  /** `count` moments for a victim, in no order. */
  moments(victim: Victim, count: number, course: Course): Moment[] {
    const byTime = Math.ceil(count / 2);
    const stages = course.stages.map(({ began }, index) => {
      const ended = course.stages[index + 1]?.began ?? course.milliseconds;
      return { began, lasted: ended - began };
    });
    const spread = Array.from({ length: byTime }, (_, index) => {
      const { began, lasted } = stages[index % stages.length] as (typeof stages)[number];
      return { after: Math.round(began + this.#random.next() * lasted) };
    });
    const known = course.operations.filter(({ worker }) => canEndIn(victim, worker));
    const kinds = this.#random.shuffled([...new Set(known.map(({ operation }) => operation))]);
    const inOperations = Array.from({ length: count - byTime }, (_, index) => {
      const operation = kinds[index % kinds.length] as string;
      const { worker } = this.#random.pick(known.filter((other) => other.operation === operation));
      const times = known.filter((other) => other.operation === operation && other.worker === worker).length;
      return { stop: { worker, operation, occurrence: 1 + this.#random.below(times) } };
    });
    return this.#random.shuffled([...spread, ...inOperations]);
  }

  /** Run the scenario, end the victim, and look at what is left. */
  async run(victim: Victim, moment: Moment, { digests }: Course): Promise<Outcome> {
    let page = await this.#page();
    await this.#call(page, 'prepare');
    const stopped = 'stop' in moment ? this.#watch.stopAt(moment.stop) : undefined;
    this.#told = { stage: '', reported: new Set() };
    const opening = new Promise<void>((resolve) => {
      this.#onOpening = resolve;
    });
    // It rejects when the page goes.
    const working = this.#call(page, 'work').catch(() => undefined);
    await opening;
    // What is not reached, because the work was shared otherwise than before, is a moment after the end.
    if ('after' in moment) await new Promise((resume) => setTimeout(resume, moment.after));
    else await Promise.race([stopped, working]);
    const worker = 'stop' in moment ? moment.stop.worker : this.#random.pick(UNPACK_WORKERS);
    const { stage } = this.#told;
    await this.#end(victim, page, worker);
    const code = await Promise.race([working, patience('the scenario does not end')]);
    this.#watch.forget();
    const told = this.#told;
    this.#told = { stage: '', reported: new Set() };
    if (victim === 'page' || victim === 'browser') page = await this.#page();
    const look = await Promise.race([this.#call(page, 'look').catch(String), patience()]);
    const problems =
      typeof look === 'object' ? problemsOf(told, look, digests) : [look ?? `no end of ${this.#told.stage}`];
    // An unpack worker has a successor.
    const mayFail = victim !== 'unpack worker' && code?.startsWith('WORKER_LOST: ');
    if (code !== undefined && !mayFail) problems.push(`the scenario ended with ${code}`);
    await page.close();
    return { victim, moment, stage, problems };
  }

  async #end(victim: Victim, page: Page, worker: string): Promise<void> {
    if (victim === 'browser') return this.#profile.kill();
    if (victim !== 'page') {
      const name = victim === 'coordinator' ? 'gantry' : worker;
      return page.evaluate((ended) => (globalThis as unknown as { matrix: Matrix }).matrix.end(ended), name);
    }
    if (this.#random.next() < 0.5) {
      const crashed = page.waitForEvent('crash');
      const devtools = await page.context().newCDPSession(page);
      devtools.send('Page.crash').catch(() => {});
      await crashed;
    }
    await page.close();
  }

  async #page(): Promise<Page> {
    const context = await this.#profile.open();
    if (!this.#bound.has(context)) {
      this.#bound.add(context);
      await context.exposeBinding('tell', (_, told: { stage?: string; reported?: string }) => this.#hear(told));
    }
    const page = await context.newPage();
    await page.goto(`${this.#site.url}/pages/blank.html`);
    await page.evaluate(() => import('/pages/kill-matrix.js' as string).then(() => undefined));
    return page;
  }

  #hear({ stage, reported }: { stage?: string; reported?: string }): void {
    if (stage) {
      this.#told.stage = stage;
      this.#stages.push({ stage, began: performance.now() });
    }
    if (reported) this.#told.reported.add(reported);
    if (stage === 'opening') this.#onOpening();
  }

  #call<K extends 'undisturbed' | 'prepare' | 'work' | 'look'>(
    page: Page,
    name: K,
  ): Promise<Awaited<ReturnType<Matrix[K]>>> {
    // The page's object is none that TypeScript could follow to here.
    const expression = `matrix.${name}(${JSON.stringify(this.#registry)})`;
    return page.evaluate(expression);
  }
}

/** Milliseconds that everything has to end in, also on a busy machine. */
const PATIENCE = 60_000;

function patience(): Promise<undefined>;
function patience(result: string): Promise<string>;
function patience(result?: string): Promise<string | undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(result), PATIENCE).unref());
}

/** A worker can be ended in its own operations, whoever has it in those of all. */
function canEndIn(victim: Victim, worker: string): boolean {
  if (victim === 'coordinator') return worker === 'gantry';
  return victim !== 'unpack worker' || worker !== 'gantry';
}

/** What of a look is not as it must be after what was told. */
function problemsOf({ stage, reported }: Told, look: Look, digests: Course['digests']): string[] {
  const problems: string[] = [];
  const must = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  const { found, after } = look;
  must(found.kept === digests.kept, `a project that nothing was done to reads otherwise: ${found.kept}`);
  const asideIsGone = found.aside === undefined;
  if (reported.has('removed')) must(asideIsGone, 'a project that was removed is there again');
  else {
    const mayBeGone = stage === 'removing a project';
    must(found.aside === digests.aside || (mayBeGone && asideIsGone), `a project has gone, or changed: ${found.aside}`);
  }
  const allowed: (string | undefined)[] = reported.has('second')
    ? [digests.second]
    : reported.has('first')
      ? [digests.first, digests.second]
      : [undefined, digests.first];
  must(allowed.includes(found.main), `what is installed is not what was reported: ${found.main}`);
  must(look.damaged.length === 0, `damaged: ${look.damaged}`);
  must(look.broken.length === 0, `projects that lack something: ${look.broken}`);
  must(!reported.has('second') || look.missing === 0, `${look.missing} packages that were installed are missing`);
  must(after.kept === digests.kept, `after the next install a project reads otherwise: ${after.kept}`);
  must(after.main === digests.second, `the next install gives another tree: ${after.main}`);
  return problems;
}
