/** Random installs: what they ask for goes on from what was installed before. */
import type { Dice } from '../../../cli/lib/random/dice.mjs';
import { rangeOf } from '../../../cli/lib/random/packages.mjs';
import type { Universe } from '../../../cli/lib/random/registry.mjs';
import type { Manifest } from './locks.js';

/** Options of an install, as far as they are random. */
export interface InstallArgument {
  project: string;
  packageJson: Manifest;
  lockfile?: string | null;
  frozen?: boolean;
  update?: boolean;
  add?: string;
  remove?: string;
  offline?: boolean;
  preferOffline?: boolean;
  preferOnline?: boolean;
}

export class Installs {
  readonly #dice: Dice;
  readonly #universe: Universe;
  /** By project, of the last install that was reported. */
  readonly #manifests = new Map<string, Manifest>();
  readonly #locks: { packageJson: Manifest; lockfile: string }[] = [];

  constructor(dice: Dice, universe: Universe) {
    this.#dice = dice;
    this.#universe = universe;
  }

  note(project: string, packageJson: Manifest, lockfile: string): void {
    this.#manifests.set(project, packageJson);
    this.#locks.push({ packageJson, lockfile });
  }

  manifest(project: string): Manifest {
    const names = this.#dice.some(Object.keys(this.#universe), this.#dice.between(1, 4));
    const dependencies = Object.fromEntries(names.map((name) => [name, rangeOf(this.#dice, this.#universe, name)]));
    return { name: project, version: '1.0.0', dependencies };
  }

  next(project: string): InstallArgument {
    const cache = this.#dice.weighted({ none: 5, offline: 1, preferOffline: 1, preferOnline: 1 });
    return { project, ...(cache !== 'none' && { [cache]: true }), ...this.#asked(project, cache === 'offline') };
  }

  #asked(project: string, isOffline: boolean): Omit<InstallArgument, 'project'> {
    const dice = this.#dice;
    const before = this.#manifests.get(project);
    const how = dice.weighted({
      new: 5,
      frozen: 1,
      'another lock': 1,
      ...(before && { add: 1, remove: 1, update: 1, same: 1 }),
    });
    if (how === 'frozen' && this.#locks.length > 0) return { ...dice.one(this.#locks), frozen: true };
    // Offline npm, too, leaves out what is in a cycle with what it cannot look up.
    if (how === 'another lock' && !isOffline && this.#locks.length > 0)
      return { packageJson: this.manifest(project), lockfile: dice.one(this.#locks).lockfile };
    if (before && how === 'add') return { packageJson: before, add: dice.one(Object.keys(this.#universe)) };
    const names = Object.keys(before?.dependencies ?? {});
    if (before && how === 'remove' && names.length > 1) return { packageJson: before, remove: dice.one(names) };
    if (before && how === 'update') return { packageJson: before, update: true };
    if (before && how === 'same') return { packageJson: before };
    return { packageJson: this.manifest(project), ...(dice.chance(0.3) && { lockfile: null }) };
  }
}
