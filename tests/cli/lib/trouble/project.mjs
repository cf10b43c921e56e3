// A project of a random course: what is in its folder, and what has been done to it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listing } from '../pair.mjs';
import { runCommand } from './command.mjs';

export class TroubledProject {
  /** Whether somebody changed in its tree what only `ci` puts right. */
  isAltered = false;
  /** Whether a command was killed over it, and none has ended well since. */
  isTorn = false;
  /** Whether package.json was changed by hand, and no command has ended well since. */
  isEdited = true;

  /** `files`: text by path. */
  constructor(name, folder, files) {
    this.name = name;
    this.folder = folder;
    this.manifests = Object.keys(files);
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  write(path, text) {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** What a file says; `undefined` if there is none. */
  read(path) {
    try {
      return readFileSync(join(this.folder, path), 'utf8');
    } catch (error) {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  get lock() {
    return this.read('package-lock.json');
  }

  /** The folders that its lock has packages in. */
  get packages() {
    return Object.keys(JSON.parse(this.lock ?? '{"packages":{}}').packages).filter((path) =>
      path.includes('node_modules/'),
    );
  }

  /** Everything in its folder: a line for each file or link. */
  get state() {
    return listing(this.folder);
  }
}

const HIDDEN = 'node_modules/.package-lock.json ';

/** What no install makes: folders of other tools in node_modules. */
const isForeign = (line) => /(^|\/)node_modules\/\.cache\//.test(line);

/** Names of what a command may leave behind when it is killed. */
const isTemporary = (line) => /(^|\/)\.gantry-/.test(line);

export const leftoversOf = (project) => project.state.filter(isTemporary);

/** The trees that a fresh store and a registry without faults make of manifests and locks. */
export class References {
  #folder;
  #environment;
  #known = new Map();

  constructor(folder, environment) {
    this.#folder = folder;
    this.#environment = environment;
    mkdirSync(folder, { recursive: true });
  }

  /** Whether `ci` refuses a project's lock as one that does not fit its manifests. */
  async isRefused(project) {
    return (await this.#of(project)).code === 'LOCK_OUT_OF_SYNC';
  }

  /** How a project's folder differs from what its own manifests and lock stand for; nothing if it does not. */
  async differences(project) {
    const expected = await this.#of(project);
    if (!Array.isArray(expected)) return [`its lock cannot be installed: ${JSON.stringify(expected)}`];
    // As npm, `ci` leaves none where nothing is installed.
    const isKnown = (line) => !line.startsWith(HIDDEN) || expected.some((other) => other.startsWith(HIDDEN));
    const found = project.state.filter((line) => !isForeign(line) && isKnown(line));
    return differences(expected, found);
  }

  /** Everything that is to be in a project's folder, or the error where its lock cannot be installed. */
  async #of(project) {
    const paths = [...project.manifests, 'package-lock.json'];
    const files = Object.fromEntries(paths.map((path) => [path, project.read(path)]));
    if (files['package-lock.json'] === undefined) return { code: 'LOCK_MISSING' };
    const key = JSON.stringify(files);
    if (!this.#known.has(key)) this.#known.set(key, await this.#make(files));
    return this.#known.get(key);
  }

  async #make(files) {
    const folder = mkdtempSync(join(this.#folder, 'reference-'));
    const reference = new TroubledProject('reference', join(folder, 'project'), files);
    const environment = { ...this.#environment, GANTRY_STORE_DIR: join(folder, 'store') };
    const { status, lines } = await runCommand(reference.folder, environment, { words: ['ci'] });
    const { state } = reference;
    rmSync(folder, { recursive: true });
    return status === 0 ? state : lines.at(-1);
  }
}

/** What is missing in a list, and what is too much. */
export function differences(expected, found) {
  const [wanted, there] = [new Set(expected), new Set(found)];
  return [
    ...expected.filter((line) => !there.has(line)).map((line) => `- ${line}`),
    ...found.filter((line) => !wanted.has(line)).map((line) => `+ ${line}`),
  ];
}
