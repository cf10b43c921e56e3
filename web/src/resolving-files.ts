/**
 * What a resolver reads: an installed tree, or whatever has a few functions of Node's `fs`, and the sources beside it. What is
 * in a folder `node_modules` is read from the tree, everything else from the sources, once the links of packages are followed:
 * those of workspaces lead out of the tree.
 */
import { fileSystemError } from './file-errors.js';
import { below } from './paths.js';

/** The part of Node's `Stats` that is used. */
export interface FileKind {
  isFile(): boolean;
  isDirectory(): boolean;
}

/** The functions of Node's `fs.promises` that a resolver calls. A path that is not there is an error, as it is there. */
export interface ReadableFiles {
  stat(path: string): Promise<FileKind>;
  readFile(path: string, encoding: 'utf8'): Promise<string | Uint8Array>;
  /** Without it nothing is a link. */
  readlink?(path: string): Promise<string | Uint8Array>;
}

/** The same, synchronously. */
export interface SyncReadableFiles {
  statSync(path: string): FileKind;
  readFileSync(path: string, encoding: 'utf8'): string | Uint8Array;
  readlinkSync?(path: string): string | Uint8Array;
}

/** Where it can be waited for; the synchronous functions are called if there are any. */
export type AnyFiles = ReadableFiles | SyncReadableFiles;

type Call = 'stat' | 'readFile' | 'readlink';
/** Something to read; what it returns may be a promise. */
type Step = () => unknown;
type Reading = Generator<Step, unknown, unknown>;

/** As many as Linux follows. */
const MOST_LINKS = 40;
const PACKAGE_FOLDER = /\/node_modules\/(?:@[^/]+\/)?[^/]+/g;

export class ResolvingFiles {
  readonly #tree: AnyFiles;
  readonly #sources: AnyFiles | undefined;
  /** Where links lead, by where they are; nothing of what is none. */
  readonly #links = new Map<string, string | undefined>();

  constructor(tree: AnyFiles, sources: AnyFiles | undefined) {
    this.#tree = tree;
    this.#sources = sources;
  }

  read(call: Call, path: string): unknown {
    return runNow(this.#reading(call, path));
  }

  readLater(call: Call, path: string): Promise<unknown> {
    return run(this.#reading(call, path));
  }

  forget(): void {
    this.#links.clear();
  }

  *#reading(call: Call, path: string): Reading {
    const sources = this.#sources;
    if (!sources) return yield () => read(this.#tree, call, path);
    const place = yield* this.#place(path, call);
    return yield () => read(/\/node_modules(\/|$)/.test(place) ? this.#tree : sources, call, place);
  }

  /** A path whose packages are no links, except for the last one where it is asked where that leads. */
  *#place(path: string, call: Call): Generator<Step, string, unknown> {
    let place = path;
    for (let followed = 0; followed < MOST_LINKS; followed++) {
      const next = yield* this.#follow(place, call === 'readlink');
      if (next === undefined) return place;
      place = next;
    }
    throw fileSystemError('ELOOP', call, path);
  }

  *#follow(path: string, isLastKept: boolean): Generator<Step, string | undefined, unknown> {
    for (const { 0: match, index } of path.matchAll(PACKAGE_FOLDER)) {
      const end = index + match.length;
      if (isLastKept && end === path.length) continue;
      const folder = path.slice(0, end);
      const target = yield* this.#linkAt(folder);
      if (target !== undefined) return below(folder.slice(0, folder.lastIndexOf('/')), `${target}${path.slice(end)}`);
    }
    return undefined;
  }

  *#linkAt(folder: string): Generator<Step, string | undefined, unknown> {
    if (this.#links.has(folder)) return this.#links.get(folder);
    let target: string | undefined;
    try {
      target = (yield () => read(this.#tree, 'readlink', folder)) as string;
    } catch (error) {
      if (isFault(error)) throw error;
    }
    this.#links.set(folder, target);
    return target;
  }
}

/** Whether an error says more than that a path is not as it was asked for. */
export function isFault(error: unknown): error is Error {
  if (error instanceof DOMException) return !/^(NotFoundError|TypeMismatchError)$/.test(error.name);
  // Not by its class, of which a page that is bundled in parts may have two.
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'ENOENT';
  return !/^(E[A-Z]+$|ERR_)/.test(code);
}

function read(files: AnyFiles, call: Call, path: string): unknown {
  if ('statSync' in files) {
    if (call === 'stat') return files.statSync(path);
    if (call === 'readFile') return textOf(files.readFileSync(path, 'utf8'));
    return textOf(files.readlinkSync ? files.readlinkSync(path) : noLink(path));
  }
  if (call === 'stat') return files.stat(path);
  if (call === 'readFile') return files.readFile(path, 'utf8').then(textOf);
  return files.readlink ? files.readlink(path).then(textOf) : noLink(path);
}

function noLink(path: string): never {
  throw fileSystemError('EINVAL', 'readlink', path);
}

/** A copy is decoded: what is shared with other threads would not be. */
function textOf(contents: string | Uint8Array): string {
  return typeof contents === 'string' ? contents : new TextDecoder().decode(contents.slice());
}

function runNow(reading: Reading): unknown {
  let step = reading.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = step.value();
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    step = reading.next(value);
  }
  return step.value;
}

async function run(reading: Reading): Promise<unknown> {
  let step = reading.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = await step.value();
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    step = reading.next(value);
  }
  return step.value;
}
