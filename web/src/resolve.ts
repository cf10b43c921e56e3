/**
 * `gantry/resolve`: which file an import means, by the rules of Node and of bundlers: `exports`, `imports`, conditions, the
 * field `browser`. The rules are those of `enhanced-resolve`, webpack's resolver, which has to be installed beside this
 * package; here is only what lets it read an installed tree.
 */

import type { ResolveOptions as EnhancedOptions } from 'enhanced-resolve';
import enhanced from 'enhanced-resolve';
import { GantryError } from './errors.js';
import type { ProjectFileSystem } from './file-system.js';
import type { SyncFileSystem } from './sync-file-system.js';

/** Options of `enhanced-resolve` that take the place of what is right for modules in a page. */
export type ResolverOptions = Partial<Omit<EnhancedOptions, 'fileSystem' | 'useSyncFileSystemCalls'>>;

/** For modules that a bundler puts into a page. */
const FOR_PAGES = {
  conditionNames: ['browser', 'import', 'module', 'default'],
  mainFields: ['browser', 'module', 'main'],
  aliasFields: ['browser'],
  extensions: ['.mjs', '.js', '.cjs', '.json'],
} satisfies ResolverOptions;

export interface Resolver {
  /**
   * The path of the file that `specifier` means in the module at `importer`, or `false` where the field `browser` says that
   * it is to be empty. The importer may be a file of the project that is not in the tree. Fails with `MODULE_NOT_FOUND`.
   */
  resolve(specifier: string, importer: string): Promise<string | false>;
  /** Forget what has been read; after an install that changed the tree. */
  purge(): void;
}

export interface SyncResolver {
  /** As {@link Resolver.resolve}. */
  resolve(specifier: string, importer: string): string | false;
  /** Forget what has been read; after the project was refreshed. */
  purge(): void;
}

/** A resolver over a project of `gantry`. What it reads it keeps until it is told to purge. */
export function createResolver(project: { fs: ProjectFileSystem }, options: ResolverOptions = {}): Resolver {
  const faults = new Faults();
  const { resolver, purge } = create(callbacks(project.fs, faults), options, false);
  return {
    resolve: (specifier, importer) => {
      const end = faults.begin(purge);
      return new Promise((settle, fail) => {
        resolver.resolve({}, folderOf(importer), specifier, {}, (error, found) => {
          const fault = end();
          if (fault) fail(fault);
          else if (error || found === undefined) fail(notFound(specifier, importer, error));
          else settle(found);
        });
      });
    },
    purge,
  };
}

/** A resolver over a project of `gantry/sync`. What it reads it keeps until it is told to purge. */
export function createSyncResolver(project: { fs: SyncFileSystem }, options: ResolverOptions = {}): SyncResolver {
  const faults = new Faults();
  const { resolver, purge } = create(withJson(project.fs, faults), options, true);
  return {
    resolve: (specifier, importer) => {
      const end = faults.begin(purge);
      let found: string | false = false;
      let failure: unknown;
      try {
        found = resolver.resolveSync({}, folderOf(importer), specifier);
      } catch (error) {
        failure = error;
      }
      const fault = end();
      if (fault) throw fault;
      if (failure !== undefined) throw notFound(specifier, importer, failure);
      return found;
    },
    purge,
  };
}

/**
 * Why the tree could not be read, which the resolver takes for a file that is not there: it would say that a module is missing,
 * or find another one, and remember that.
 */
class Faults {
  #last: Error | undefined;
  #count = 0;
  /** How many had been met when what was read was last forgotten. */
  #forgotten = 0;

  /** Looks at what a read has failed with. What a path is to blame for is the resolver's affair. */
  note(error: unknown): void {
    // Not by its class, of which a page that is bundled in parts may have two.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'ENOENT';
    if (/^(E[A-Z]+$|ERR_)/.test(code)) return;
    this.#last = error as Error;
    this.#count++;
  }

  /** The result ends a resolution, and is what the tree could not be read for meanwhile; then `purge` forgets what was read. */
  begin(purge: () => void): () => Error | undefined {
    // Nor does it find what another one, which is still under way, has failed with.
    this.#forget(purge);
    const before = this.#count;
    return () => {
      this.#forget(purge);
      return this.#count > before ? this.#last : undefined;
    };
  }

  #forget(purge: () => void): void {
    if (this.#forgotten === this.#count) return;
    this.#forgotten = this.#count;
    purge();
  }
}

type FileSystem = ConstructorParameters<typeof enhanced.CachedInputFileSystem>[0];

function create(fileSystem: FileSystem, options: ResolverOptions, useSyncFileSystemCalls: boolean) {
  const cached = new enhanced.CachedInputFileSystem(fileSystem, Number.POSITIVE_INFINITY);
  const resolver = enhanced.ResolverFactory.createResolver({
    ...FOR_PAGES,
    ...options,
    fileSystem: cached,
    useSyncFileSystemCalls,
  });
  return { resolver, purge: () => cached.purge() };
}

/** The functions that the resolver calls when it does not wait. Manifests come as values: their bytes are no `Buffer`. */
function withJson(fs: SyncFileSystem, faults: Faults): FileSystem {
  const { lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync, statSync } = fs;
  const noting =
    <Given extends unknown[]>(read: (...given: Given) => unknown) =>
    (...given: Given): unknown => {
      try {
        return read(...given);
      } catch (error) {
        faults.note(error);
        throw error;
      }
    };
  const functions = {
    lstatSync: noting(lstatSync),
    readFileSync: noting(readFileSync),
    readJsonSync: noting((path: string) => JSON.parse(readFileSync(path, 'utf8'))),
    readdirSync: noting(readdirSync),
    readlinkSync: noting(readlinkSync),
    realpathSync: noting(realpathSync),
    statSync: noting(statSync),
  };
  return functions as unknown as FileSystem;
}

type Callback = (error: unknown, result?: unknown) => void;

/** Node's older form of the same functions: the last parameter is called. */
function callbacks(fs: ProjectFileSystem, faults: Faults): FileSystem {
  const wrap =
    (read: (path: string) => Promise<unknown>) =>
    (path: string, ...rest: unknown[]): void => {
      const done = rest.at(-1) as Callback;
      read(path).then(
        (result) => done(null, result),
        (error: unknown) => {
          faults.note(error);
          done(error);
        },
      );
    };
  const functions = {
    lstat: wrap(fs.lstat),
    readFile: wrap((path) => fs.readFile(path)),
    readJson: wrap(async (path) => JSON.parse(await fs.readFile(path, 'utf8'))),
    readdir: wrap((path) => fs.readdir(path)),
    readlink: wrap(fs.readlink),
    realpath: wrap(fs.realpath),
    stat: wrap(fs.stat),
  };
  return functions as unknown as FileSystem;
}

/** The folder of a module, from the root. */
function folderOf(importer: string): string {
  const path = importer.startsWith('/') ? importer : `/${importer}`;
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function notFound(specifier: string, importer: string, cause: unknown): GantryError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  const message = `${specifier}, imported by ${importer}, leads to no file${reason}`;
  return new GantryError({ code: 'MODULE_NOT_FOUND', message }, { cause });
}
