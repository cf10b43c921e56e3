/** What the projects of a store are, and what each may be after calls of which some failed, or were never answered. */
import { type Call, PROJECTS } from './calls.js';
import type { Installed, ProjectState } from './tab.js';

interface Possible {
  locks: Set<string>;
  mayBeMissing: boolean;
  /** Whether something that was under way may have come to its end without telling. */
  mayBeAny: boolean;
}

const installed = ({ outcome }: Call) => (outcome.result as Installed).lockfile;

export class Projects {
  #known = new Map<string, ProjectState & { lockfile: string }>();
  #possible = new Map<string, Possible>();

  get known(): ReadonlyMap<string, ProjectState & { lockfile: string }> {
    return this.#known;
  }

  forgetAll(): void {
    this.#known.clear();
    this.#possible.clear();
  }

  /** A project is this. */
  set(project: string, state: ProjectState & { lockfile: string }): void {
    this.#known.set(project, state);
    this.#possible.delete(project);
  }

  /** These calls were made at the same time. */
  expect(calls: readonly Call[]): void {
    const clears = calls.filter(({ action }) => action === 'clear');
    const isCleared = clears.some(isReported);
    for (const project of PROJECTS) {
      const own = calls.filter(
        ({ action, argument }) => /^(install|removeProject)$/.test(action) && argument.project === project,
      );
      const reported = own.filter(isReported);
      const locks = new Set(reported.filter(({ action }) => action === 'install').map(installed));
      const before = this.#known.get(project)?.lockfile;
      if (reported.length === 0 && before !== undefined) locks.add(before);
      this.#possible.set(project, {
        locks: isCleared && reported.length === 0 ? new Set() : locks,
        mayBeMissing: clears.length > 0 || locks.size === 0 || own.some(({ action }) => action === 'removeProject'),
        mayBeAny: own.some((call) => call.action === 'install' && isUncertain(call)),
      });
    }
  }

  /** Takes what was found as what there is; gives what of it cannot be. */
  found(states: Readonly<Record<string, ProjectState>>): string[] {
    const problems: string[] = [];
    for (const project of PROJECTS) {
      const possible = this.#possible.get(project);
      const state = states[project];
      if (!state) {
        if (possible ? !possible.mayBeMissing : this.#known.has(project)) problems.push(`${project} is lost`);
        this.#known.delete(project);
        continue;
      }
      // What cannot be opened is one of those that it may be.
      const lockfile = state.lockfile ?? [...(possible?.locks ?? [])][0] ?? this.#known.get(project)?.lockfile;
      const locks = possible?.locks ?? new Set([this.#known.get(project)?.lockfile]);
      if (lockfile === undefined) problems.push(`${project} is there, and cannot be opened: ${JSON.stringify(state)}`);
      else {
        if (!possible?.mayBeAny && !locks.has(lockfile)) problems.push(`${project} is another one: ${lockfile}`);
        this.#known.set(project, { ...state, lockfile });
      }
    }
    this.#possible.clear();
    return problems;
  }
}

export const isReported = ({ outcome }: Call) => outcome.ended === undefined && outcome.code === undefined;

/** An install that fails by itself changes nothing; one that was ended may have been through. */
const isUncertain = ({ outcome }: Call) =>
  outcome.ended !== undefined || ['ABORTED', 'WORKER_LOST', 'CLOSED'].includes(outcome.code ?? '');
