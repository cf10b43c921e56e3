// Somebody who removes, cuts and replaces files of the store and of trees again and again while commands run.
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Dice } from '../random/dice.mjs';
import { Ground } from './ground.mjs';

/** What may be done to something, whatever it is. */
const DEEDS = {
  removed: (path) => rmSync(path, { recursive: true, force: true }),
  // Not in place: other projects may have links to it.
  'cut short': (path) => {
    if (!lstatSync(path).isFile()) return;
    const bytes = readFileSync(path);
    rmSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
  },
  'made a folder': (path) => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
  },
  'made a file': (path) => {
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, 'other');
  },
  'made a link': (path) => {
    rmSync(path, { recursive: true, force: true });
    symlinkSync('nowhere', path);
  },
};

/** Folders of the store that packages are in. */
const OF_THE_STORE = /\/packages\/..$/;

/** What is nobody's but the user's, and what the store knows of projects. */
const SPARED = /\/node_modules\/\.cache(\/|$)|\/v1\/projects(\/|$)/;

const PLACES = ['packages', 'metadata', 'temporary', 'store', 'tree', 'workspace', 'everywhere'];

export class Meddling extends Ground {
  strain(dice, projects) {
    if (dice.chance(0.15)) return undefined;
    const place = dice.one(PLACES);
    const modules = projects.map(({ folder }) => join(folder, 'node_modules'));
    const version = join(this.store, 'v1');
    const workspaces = () =>
      projects.flatMap(({ folder }) =>
        readdirSync(folder)
          .filter(isTemporary)
          .map((name) => join(folder, name)),
      );
    const roots =
      {
        store: () => [version],
        tree: () => modules,
        workspace: workspaces,
        everywhere: () => [version, ...modules, ...workspaces()],
      }[place] ?? (() => [join(version, place)]);
    return new Strain(new Dice(dice.between(0, 1e9)), place, roots, dice.one([1, 3, 10, 30]));
  }
}

const isTemporary = (name) => name.startsWith('.gantry-');

/** Something below a folder: at every step down one of what is there, or what is there itself. No link is followed. */
function somewhere(dice, root) {
  let path = root;
  for (;;) {
    const names = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path) : [];
    if (names.length === 0 || (path !== root && dice.chance(0.15))) return path === root ? undefined : path;
    path = join(path, dice.one(names));
  }
}

class Strain {
  // Git says in its own words that a repository is gone.
  codes = ['DISK_IO', 'STORE_CORRUPT', 'GIT_FAILED'];
  isTearing = true;
  isDamaging = true;
  #dice;
  #roots;
  #pause;
  #timer;
  deeds = [];

  constructor(dice, place, roots, pause) {
    this.#dice = dice;
    this.#roots = roots;
    this.#pause = pause;
    this.said = `somebody meddles with ${place} every ${pause} ms`;
  }

  begin() {
    this.#timer = setInterval(() => this.#meddle(), this.#pause);
  }

  #meddle() {
    const roots = this.#roots();
    if (roots.length === 0) return;
    const root = this.#dice.one(roots);
    try {
      const path = somewhere(this.#dice, root);
      if (path === undefined || SPARED.test(path)) return;
      // Nobody puts other things in the places of the folders that a store or a workspace is made of.
      const isPart = dirname(path) === root && /v1$|\.gantry-[^/]+$/.test(root);
      const deed = isPart ? 'removed' : this.#dice.one(Object.keys(DEEDS));
      // Links that lead folders of the store elsewhere are taken for the user's, and stay.
      if (deed === 'made a link' && OF_THE_STORE.test(path)) return;
      DEEDS[deed](path);
      this.deeds.push(`${path} was ${deed}`);
    } catch {
      // It was moved meanwhile.
    }
  }

  end() {
    clearInterval(this.#timer);
  }
}
