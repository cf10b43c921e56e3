// A user who is not root, for whom files and folders of projects and store may not be read, written or searched, or belong to
// somebody else.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs';
import { join } from 'node:path';
import { gantryCommand } from '../programs.mjs';
import { Ground } from './ground.mjs';

const USER = 4321;
const isRoot = process.getuid() === 0;

/** How commands are run by `user`, who is not root, in what is below `folder` once it is `given` to them. */
export function somebody(folder, user = USER) {
  if (!isRoot) return { command: gantryCommand, identity: {}, give() {} };
  // Others may not enter the folder that the command was built in.
  const command = join(folder, 'gantry');
  copyFileSync(gantryCommand, command);
  const give = () => spawnSync('chown', ['-R', `${user}:${user}`, folder]);
  return { command, identity: { uid: user, gid: user }, give };
}

const MODES = [0o000, 0o000, 0o444, 0o555, 0o400, 0o200, 0o311];

export class Users extends Ground {
  begin(dice, folder) {
    super.begin(dice, folder);
    this.spawning = somebody(folder);
  }

  settle() {
    this.spawning.give();
  }

  strain(dice, projects) {
    if (dice.chance(0.2)) return undefined;
    const roots = [...projects.map(({ folder }) => folder), this.store].filter((root) => existsSync(root));
    const paths = dice.some(
      dice.one([roots, ...roots.map((root) => everything(root))].filter((list) => list.length > 0)),
      dice.one([1, 1, 2, 5]),
    );
    // What matters is often near the root.
    const near = dice.chance(0.4)
      ? dice.some(
          roots.flatMap((root) => everything(root, 2)),
          2,
        )
      : [];
    const changes = [...new Set([...paths, ...near])].map((path) => ({
      path,
      mode: dice.one(MODES),
      isOthers: dice.chance(0.25) && isRoot,
    }));
    return new Strain(changes);
  }
}

function everything(root, depth = 99) {
  let entries;
  try {
    entries = readdirSync(root, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(root, entry.name);
      return [path, ...(entry.isDirectory() && depth > 1 ? everything(path, depth - 1) : [])];
    });
}

class Strain {
  codes = ['DISK_DENIED', 'STORE_CORRUPT'];
  isTearing = true;
  #changes;
  #changed = [];

  constructor(changes) {
    this.#changes = changes;
    this.said = changes
      .map(({ path, mode, isOthers }) => `${path} ${mode.toString(8)}${isOthers ? ' of root' : ''}`)
      .join(', ');
  }

  begin() {
    for (const { path, mode, isOthers } of this.#changes) {
      const file = openSync(path, constants.O_RDONLY);
      const was = fstatSync(file);
      this.#changed.push({ path, file, was });
      fchmodSync(file, mode);
      if (isOthers) fchownSync(file, 0, 0);
    }
  }

  end() {
    for (const { path, file, was } of this.#changed) {
      fchmodSync(file, was.mode & 0o7777);
      fchownSync(file, was.uid, was.gid);
      closeSync(file);
      // One that was replaced has kept the mode, and perhaps the owner.
      const now = lstatSync(path, { throwIfNoEntry: false });
      if (now && !now.isSymbolicLink() && now.isFile() === was.isFile()) {
        const again = openSync(path, constants.O_RDONLY);
        fchmodSync(again, was.mode & 0o7777);
        fchownSync(again, was.uid, was.gid);
        closeSync(again);
      }
    }
  }
}
