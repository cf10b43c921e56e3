// Small disks of their own for projects and store, which get full, have no room for more files, or cannot be written to any
// more: from the beginning, or in the midst of commands.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ground, made } from './ground.mjs';

/** Room for everything. */
const AMPLE = ['size=400m', 'nr_inodes=200000'];

/** On which disk what is; none is the one that temporary files are on. */
const PLACES = [
  { store: 'one', projects: 'one' },
  { store: 'one', projects: 'other' },
  { store: 'one', projects: undefined },
  { store: undefined, projects: 'other' },
];

function mount(...words) {
  const { status, stderr } = spawnSync('mount', words, { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}

/** Why this machine cannot have such disks; nothing where it can. */
export function whyNoDisks() {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-disk-'));
  const refusal = mount('-t', 'tmpfs', 'gantry-test', folder);
  if (refusal === undefined) spawnSync('umount', ['--lazy', folder]);
  rmSync(folder, { recursive: true });
  return refusal && `nothing can be mounted here: ${refusal}`;
}

export class Disks extends Ground {
  #places;
  #mounted = [];

  begin(dice, folder) {
    super.begin(dice, folder);
    this.#places = dice.one(PLACES);
    for (const name of new Set(Object.values(this.#places).filter(Boolean))) {
      const disk = made(join(folder, name));
      const refusal = mount('-t', 'tmpfs', '-o', AMPLE.join(), 'gantry-test', disk);
      if (refusal) throw new Error(refusal);
      this.#mounted.push(disk);
    }
  }

  get store() {
    return join(this.folder, this.#places.store ?? '', 'store');
  }

  project(name) {
    return made(join(this.folder, this.#places.projects ?? '', name));
  }

  strain(dice) {
    if (dice.chance(0.25)) return undefined;
    const disk = dice.one(this.#mounted);
    const kind = dice.weighted({ full: 4, 'without inodes': 3, 'read-only': 2 });
    const left = { full: dice.one([0, 1, 2, 4, 10, 30, 60, 100, 200, 500]), 'without inodes': dice.between(0, 60) }[
      kind
    ];
    const after = dice.one([0, 0, 0, 5, 20, 50, 100, 200]);
    return new Strain(disk, kind, left, after);
  }

  end() {
    for (const disk of this.#mounted) spawnSync('umount', ['--lazy', disk]);
  }
}

/** A disk that gets so, with so much `left`: kilobytes, or inodes. */
class Strain {
  #disk;
  #timer;

  constructor(disk, kind, left, after) {
    this.#disk = disk;
    this.kind = kind;
    this.left = left;
    this.after = after;
    this.said = `${disk} is ${kind}${left === undefined ? '' : ` but for ${left}`} after ${after} ms`;
    this.codes = [kind === 'read-only' ? 'DISK_DENIED' : 'DISK_FULL'];
    // What cannot be written to cannot be tidied up.
    this.isTearing = kind === 'read-only';
  }

  begin() {
    if (this.after === 0) this.#set();
    else this.#timer = setTimeout(() => this.#set(), this.after);
  }

  #set() {
    const { bsize, blocks, bfree, files, ffree } = statfsSync(this.#disk);
    const used = (blocks - bfree) * bsize;
    const option = {
      full: `size=${Math.max(4096, used + this.left * 1024)}`,
      'without inodes': `nr_inodes=${Math.max(2, files - ffree + this.left)}`,
      'read-only': 'ro',
    }[this.kind];
    // Where a file is being written the system refuses to let nobody write: then a moment later.
    if (mount('-o', `remount,${option}`, this.#disk)) this.#timer = setTimeout(() => this.#set(), 3);
  }

  end() {
    clearTimeout(this.#timer);
    const refusal = mount('-o', `remount,rw,${AMPLE.join()}`, this.#disk);
    if (refusal) throw new Error(refusal);
  }
}
