// What a random course stands on: folders of whoever runs the test, on the disk that temporary files are on. Other grounds have
// strains of their own, which are put on while commands run, and taken off again.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

export class Ground {
  /** Options that commands are started with. */
  spawning = {};

  /** Makes the places below `folder`. */
  begin(_dice, folder) {
    this.folder = folder;
  }

  /** Where the store goes. */
  get store() {
    return join(this.folder, 'store');
  }

  /** Where a project goes; its folder is made. */
  project(name) {
    return made(join(this.folder, name));
  }

  /** To be called when all files are there. */
  settle() {}

  /**
   * What is done to `projects` and the store while commands run, if anything: what it is, called `said`; `codes` that commands
   * may fail with; whether they may leave something half made (`isTearing`), and whether what is in trees and in the store may
   * be other things (`isDamaging`); `begin` and `end`.
   */
  strain(_dice, _projects) {
    return undefined;
  }

  end() {}
}

export function made(folder) {
  mkdirSync(folder, { recursive: true });
  return folder;
}
