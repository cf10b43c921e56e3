/**
 * The package's workers watched at what they do to storage, and stopped in the midst of an operation: their scripts are
 * served with pages/storage-operations.js before them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from './paths.js';
import type { Site } from './site.js';

/** One thing a worker did, by its name (`gantry`, `gantry-unpack-0`): `pack: write`, `journal: flush`, … */
export interface StorageOperation {
  worker: string;
  operation: string;
}

/** Which of its operations a worker stops in, the first being 1. */
export interface Stop extends StorageOperation {
  occurrence: number;
}

const SCRIPTS = ['coordinator', 'unpack'].map((name) => `/dist/worker/${name}.js`);
const PATH = '/-/storage/';

export class StorageWatch {
  readonly #site: Site;
  #plan: Stop | { tell: boolean } = { tell: false };
  #operations: StorageOperation[] = [];
  #onStopped: (operation: StorageOperation) => void = () => {};

  /** From now on pages of the site have watched workers. */
  constructor(site: Site) {
    this.#site = site;
    for (const script of SCRIPTS) {
      const own = readFileSync(join(packageFolder, script), 'utf8');
      site.pages.set(`/package${script}`, `import '/pages/storage-operations.js';\n${own}`);
    }
    site.answering.set(PATH, ({ pathname, searchParams }, response) => {
      const operation = Object.fromEntries(searchParams) as unknown as StorageOperation;
      // Never answered: the worker waits in the midst of its operation.
      if (pathname === `${PATH}stopped`) return this.#onStopped(operation);
      if (pathname === `${PATH}operation`) this.#operations.push(operation);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.#plan));
    });
  }

  /** Workers that start from now on tell all they do; the function gives what they told, in order, and ends it. */
  record(): () => StorageOperation[] {
    this.#plan = { tell: true };
    this.#operations = [];
    return () => {
      this.#plan = { tell: false };
      return this.#operations;
    };
  }

  /** Workers that start from now on stop there. Resolves when one has. */
  stopAt(stop: Stop): Promise<StorageOperation> {
    this.#plan = stop;
    return new Promise((resolve) => {
      this.#onStopped = (operation) => {
        this.#plan = { tell: false };
        resolve(operation);
      };
    });
  }

  /** Workers that start from now on do not stop. */
  forget(): void {
    this.#plan = { tell: false };
    this.#onStopped = () => {};
  }

  end(): void {
    for (const script of SCRIPTS) this.#site.pages.delete(`/package${script}`);
    this.#site.answering.delete(PATH);
  }
}
