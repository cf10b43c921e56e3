/** Random calls: which tab does what, with what, when, and whether it is aborted. */
import type { Dice } from '../../../cli/lib/random/dice.mjs';
import type { Universe } from '../../../cli/lib/random/registry.mjs';
import type { Installs } from './installs.js';
import type { Manifest } from './locks.js';
import type { Outcome, Tab } from './tab.js';

export const PROJECTS = ['default', 'one', 'two'];

export interface Call {
  tab: Tab;
  action: string;
  argument: { project?: string; packageJson?: Manifest; offline?: boolean; preferOffline?: boolean };
  /** Milliseconds until it begins. */
  delay: number;
  /** Milliseconds from then on. */
  abortAfter: number | undefined;
  outcome: Outcome;
}

/** How often each is done. */
const WEIGHTS = {
  install: 12,
  removeProject: 2,
  prune: 2,
  verify: 1,
  clear: 0.3,
  usage: 1,
  projects: 1,
  state: 1,
  explain: 1,
  why: 1,
  digest: 1,
  readMany: 3,
  readFiles: 3,
  links: 1,
  openHandle: 2,
  readHandles: 3,
  closeHandles: 1,
  tar: 2,
  zip: 1,
  volume: 1,
  directory: 1,
};
/** Of a worker that reads by itself, which only a store in OPFS has. */
const READER_WEIGHTS = { openReader: 1.5, readReader: 2, refreshReader: 1.5, closeReader: 1.5, endReader: 0.5 };

const CAN_ABORT = 'install removeProject prune verify clear explain tar zip volume directory'.split(' ');

/** What can be done to one thing at a time: a worker's project, a folder, open files. */
const EXCLUSIVE = /Reader$|^directory$|Handles?$/;

/** Whether it is done by a worker that reads by itself. */
export const isOfReader = (action: string) => action.endsWith('Reader');

export class Calls {
  readonly #dice: Dice;
  readonly #universe: Universe;
  readonly #installs: Installs;
  readonly #weights: Record<string, number>;
  readonly #hasReaders: boolean;

  constructor(dice: Dice, parts: { universe: Universe; installs: Installs; hasReaders: boolean }) {
    this.#dice = dice;
    this.#universe = parts.universe;
    this.#installs = parts.installs;
    this.#hasReaders = parts.hasReaders;
    this.#weights = { ...WEIGHTS, ...(parts.hasReaders && READER_WEIGHTS) };
  }

  /** So many that go on at the same time, or fewer. */
  some(tabs: readonly Tab[], count: number): Call[] {
    const begun = new Set<string>();
    return Array.from({ length: count }, () => this.#next(this.#dice.one(tabs))).filter(({ tab, action }) => {
      const exclusive = EXCLUSIVE.exec(action)?.[0].replace(/s$/, '');
      if (exclusive === undefined) return true;
      const isFree = !begun.has(`${tab.name} ${exclusive}`);
      begun.add(`${tab.name} ${exclusive}`);
      return isFree;
    });
  }

  #next(tab: Tab): Call {
    const dice = this.#dice;
    const action = dice.weighted(this.#weights);
    const canAbort = CAN_ABORT.includes(action) && dice.chance(0.17);
    return {
      tab,
      action,
      argument: this.#argument(action, tab),
      delay: dice.one([0, 0, 5, 20, 60, 200]),
      abortAfter: canAbort ? dice.one([0, 1, 5, 20, 50, 100, 200]) : undefined,
      outcome: {},
    };
  }

  #argument(action: string, tab: Tab): Call['argument'] {
    const dice = this.#dice;
    const project = dice.one(PROJECTS);
    if (action === 'install') return this.#installs.next(project);
    if (action === 'explain') return { project, packageJson: this.#installs.manifest(project) };
    return {
      project,
      // Otherwise what this tab has read before, if it has.
      ...{
        isStored: this.#hasReaders && dice.chance(0.3),
        isFresh: dice.chance(0.5),
        at: dice.between(0, 999) / 1000,
        to: tab.name,
      },
      ...(action === 'why' && { query: dice.one(Object.keys(this.#universe)) }),
      ...(action === 'tar' && { drop: dice.chance(0.25) ? 1 : 0, pause: dice.chance(0.3) ? 30 : 0 }),
    };
  }
}
