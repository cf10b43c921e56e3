// What a random course does to files: in a project's tree, in the packages of the store, in what is kept of documents. Each says
// what it did, and what of the course's expectations it changes.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Files of a folder and those below it; none where it is not there, or is no folder any more. */
function filesOf(folder) {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Puts another file in the place of one, which may be a link to one that others have. */
function replace(path, bytes) {
  unlinkSync(path);
  writeFileSync(path, bytes);
}

/** Changes a file in place, so that it is changed for all who have a link to it. */
const IN_PLACE = {
  'other bytes in': (path) => {
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 7) bytes[at] ^= 0x11;
    writeFileSync(path, bytes);
  },
  'less in': (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  'more in': (path) => writeFileSync(path, 'more', { flag: 'a' }),
};

/** What installs find: nothing of it may get into a tree. */
const LOST = {
  'no list in': (folder) => rmSync(join(folder, 'index'), { force: true }),
  'another list in': (folder) => writeFileSync(join(folder, 'index'), 'no list'),
  'no files in': (folder) => rmSync(join(folder, 'files'), { recursive: true, force: true }),
  'no package.json in': (folder) => rmSync(join(folder, 'files', 'package.json'), { force: true }),
  'a file instead of': (folder) => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'no folder');
  },
  'nothing instead of': (folder) => rmSync(folder, { recursive: true }),
};

const TREE = {
  /** `ci` alone puts it right. */
  'another file': (dice, folder) => {
    const file = dice.one(filesOf(folder).filter((path) => !path.endsWith('package.json')));
    if (file === undefined) return undefined;
    replace(file, 'changed');
    return file;
  },
  'no file': (dice, folder) => {
    const file = dice.one(filesOf(folder).filter((path) => !path.endsWith('package.json')));
    if (file === undefined) return undefined;
    unlinkSync(file);
    return file;
  },
  /** Every install puts these right. */
  'no package': (_dice, folder) => {
    rmSync(folder, { recursive: true });
    return folder;
  },
  'a file for a package': (_dice, folder) => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'no package');
    return folder;
  },
  'a link for a package': (_dice, folder) => {
    rmSync(folder, { recursive: true });
    symlinkSync('nowhere', folder);
    return folder;
  },
};

export class Damage {
  #dice;
  #store;

  constructor(dice, store) {
    this.#dice = dice;
    this.#store = join(store, 'v1');
  }

  /** Does something to the tree of a project; says what, and whether only `ci` puts it right, if there is anything. */
  tree(project) {
    const dice = this.#dice;
    const modules = join(project.folder, 'node_modules');
    if (!existsSync(modules)) return undefined;
    const kind = dice.weighted({ package: 5, all: 0.5, hidden: 1, cache: 1, links: 1 });
    switch (kind) {
      case 'all':
        rmSync(modules, { recursive: true });
        return { said: 'no node_modules' };
      case 'hidden': {
        const hidden = join(modules, '.package-lock.json');
        if (!existsSync(hidden)) return undefined;
        const bytes = readFileSync(hidden);
        // Not one of another tree: where it is the newest thing there it is believed, and npm alone notices what it does not name.
        const how = dice.one(['no', 'half a', 'a garbled']);
        unlinkSync(hidden);
        if (how === 'half a') writeFileSync(hidden, bytes.subarray(0, bytes.length / 2));
        if (how === 'a garbled') writeFileSync(hidden, 'no lock');
        return { said: `${how} hidden lock` };
      }
      case 'cache':
        mkdirSync(join(modules, '.cache'), { recursive: true });
        writeFileSync(join(modules, '.cache', 'mine'), 'mine');
        return { said: 'a folder of another tool' };
      case 'links':
        if (!existsSync(join(modules, '.bin'))) return undefined;
        rmSync(join(modules, '.bin'), { recursive: true });
        return { said: 'no commands' };
      default: {
        const folders = project.packages.map((path) => join(project.folder, path)).filter((path) => existsSync(path));
        if (folders.length === 0) return undefined;
        const what = dice.one(Object.keys(TREE));
        const path = TREE[what](dice, dice.one(folders));
        return path && { said: `${what}: ${path}`, isAltered: /file$/.test(what) };
      }
    }
  }

  /** Takes something away from a package in the store, which installs find. */
  lose() {
    const folder = this.#package();
    if (folder === undefined) return undefined;
    const what = this.#dice.one(Object.keys(LOST));
    LOST[what](folder);
    return { said: `store: ${what} ${folder}`, folder };
  }

  /** Changes a file of the store in place, which only `verify` finds. */
  change() {
    const folder = this.#package();
    const files = folder ? filesOf(join(folder, 'files')).filter((path) => statSync(path).size > 1) : [];
    if (files.length === 0) return undefined;
    const [what, path] = [this.#dice.one(Object.keys(IN_PLACE)), this.#dice.one(files)];
    IN_PLACE[what](path);
    return { said: `store: ${what} ${path}`, folder };
  }

  /** Damages what is kept of documents. */
  mirror() {
    const dice = this.#dice;
    const metadata = join(this.#store, 'metadata');
    const files = filesOf(metadata);
    if (files.length === 0) return undefined;
    const path = dice.one(files);
    const what = dice.one(['nothing', 'no file', 'a folder', 'less', 'other bytes', 'garbage', 'more']);
    const { size } = statSync(path);
    if (what === 'nothing') rmSync(metadata, { recursive: true });
    if (what === 'no file') unlinkSync(path);
    if (what === 'a folder') {
      unlinkSync(path);
      mkdirSync(path);
    }
    if (what === 'less') truncateSync(path, dice.between(0, size));
    if (what === 'other bytes') {
      const bytes = readFileSync(path);
      for (let count = dice.between(1, 20); size > 0 && count > 0; count--) bytes[dice.between(0, size - 1)] ^= 0x11;
      writeFileSync(path, bytes);
    }
    if (what === 'garbage') writeFileSync(path, 'garbage'.repeat(dice.between(1, 100)));
    if (what === 'more') writeFileSync(path, 'more', { flag: 'a' });
    return { said: `store: ${what} for ${path}` };
  }

  /** Takes away what the store notes beside packages. */
  notes() {
    const path = join(this.#store, this.#dice.one(['projects', 'boots', 'temporary']));
    if (!existsSync(path)) return undefined;
    rmSync(path, { recursive: true });
    return { said: `store: no ${path}` };
  }

  #package() {
    const lists = filesOf(join(this.#store, 'packages')).filter((path) => path.endsWith('/index'));
    const folders = [...new Set(lists.map(dirname))].filter((path) => existsSync(join(path, 'files')));
    return folders.length > 0 ? this.#dice.one(folders) : undefined;
  }
}
