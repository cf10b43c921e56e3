/**
 * `gantry/resolve`: which file an import means, by the rules of Node and of bundlers: `exports`, `imports`, conditions, the
 * field `browser`. The rules are those of `enhanced-resolve`, webpack's resolver, which has to be installed beside this
 * package; here is only what lets it read an installed tree, and the sources of the project that the tree is for.
 */

import enhanced from 'enhanced-resolve';
import { GantryError } from './errors.js';
import {
  checkFiles,
  checkKind,
  checkResolver,
  type RequestKind,
  type RequestOptions,
  type ResolverOptions,
  type SyncResolverOptions,
} from './resolve-options.js';
import { type AnyFiles, isFault, ResolvingFiles, type SyncReadableFiles } from './resolving-files.js';
import { folderOf, requestOf, unescaped } from './specifiers.js';

export type { RequestKind, RequestOptions, ResolverOptions, SyncResolverOptions } from './resolve-options.js';
export type { AnyFiles, FileKind, ReadableFiles, SyncReadableFiles } from './resolving-files.js';

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
   * it is to be empty. Both may be `file:` addresses. The importer may be a file of the project that is not in the tree. What
   * follows a `?` in the specifier follows the path. Fails with `MODULE_NOT_FOUND`.
   */
  resolve(specifier: string | URL, importer: string | URL, options?: RequestOptions): Promise<string | false>;
  /** Forget what has been read; after an install that changed the tree, and after a change of the sources. */
  purge(): void;
}

export interface SyncResolver {
  /** As {@link Resolver.resolve}. */
  resolve(specifier: string | URL, importer: string | URL, options?: RequestOptions): string | false;
  /** Forget what has been read; after the project was refreshed, and after a change of the sources. */
  purge(): void;
}

/** A resolver over a project, or whatever has the functions that are called. What it reads it keeps until it is told to purge. */
export function createResolver(project: { fs: AnyFiles }, options: ResolverOptions = {}): Resolver {
  checkResolver('createResolver', options);
  checkFiles('createResolver', project, options.sources, ['stat', 'readFile']);
  const faults = new Faults();
  const files = new ResolvingFiles(project.fs, options.sources);
  const { resolverFor, purge } = create(callbacks(files, faults), files, options, false);
  return {
    resolve: async (specifier, importer, options) => {
      const ask = asking(specifier, importer, resolverFor(checkKind(options)));
      const end = faults.begin(purge);
      return new Promise((settle, fail) => {
        ask((found) => {
          const failure = end() ?? found.failure;
          if (failure) fail(failure);
          else settle(found.path);
        });
      });
    },
    purge,
  };
}

/** A resolver over a project of `gantry/sync`, or the like. What it reads it keeps until it is told to purge. */
export function createSyncResolver(
  project: { fs: SyncReadableFiles },
  options: SyncResolverOptions = {},
): SyncResolver {
  checkResolver('createSyncResolver', options);
  checkFiles('createSyncResolver', project, options.sources, ['statSync', 'readFileSync']);
  const faults = new Faults();
  const files = new ResolvingFiles(project.fs, options.sources);
  const { resolverFor, purge } = create(synchronous(files, faults), files, options, true);
  return {
    resolve: (specifier, importer, options) => {
      const ask = asking(specifier, importer, resolverFor(checkKind(options)));
      const end = faults.begin(purge);
      let found: Found = { path: false, failure: undefined };
      // Nothing waits where all is read at once.
      ask((result) => {
        found = result;
      });
      const failure = end() ?? found.failure;
      if (failure) throw failure;
      return found.path;
    },
    purge,
  };
}

interface Found {
  path: string | false;
  failure: Error | undefined;
}

type EnhancedResolver = ReturnType<typeof enhanced.ResolverFactory.createResolver>;

/** A question that is looked at before it is put. */
function asking(
  specifier: string | URL,
  importer: string | URL,
  resolver: EnhancedResolver,
): (done: (found: Found) => void) => void {
  const request = requestOf(specifier);
  const folder = folderOf(importer);
  return (done) =>
    resolver.resolve({}, folder, request.specifier, {}, (error, found, result) => {
      if (error || found === undefined || !result) {
        done({ path: false, failure: notFound(specifier, importer, error) });
      } else if (found === false || result.path === false) done({ path: false, failure: undefined });
      // Not what it says as a text, in which a path has its `#` escaped.
      else {
        const path = `${result.path}${result.query ?? ''}${result.fragment ?? ''}${request.query}`;
        done({ path, failure: undefined });
      }
    });
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
    if (!isFault(error)) return;
    this.#last = error;
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

function create(
  fileSystem: FileSystem,
  files: ResolvingFiles,
  { sources: _, ...options }: ResolverOptions,
  useSyncFileSystemCalls: boolean,
) {
  const cached = new enhanced.CachedInputFileSystem(fileSystem, Number.POSITIVE_INFINITY);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const chosen: typeof FOR_PAGES & ResolverOptions = { ...FOR_PAGES, ...Object.fromEntries(given) };
  const plugins = [...(chosen.plugins ?? []), belowTheRoot];
  const always = { plugins, fileSystem: cached, useSyncFileSystemCalls };
  const make = (conditionNames: string[]) =>
    enhanced.ResolverFactory.createResolver({ ...chosen, ...always, conditionNames });
  const resolvers = new Map<RequestKind | undefined, EnhancedResolver>();
  const resolverFor = (kind: RequestKind | undefined): EnhancedResolver => {
    const resolver = resolvers.get(kind) ?? make(conditionsFor(kind, chosen.conditionNames));
    resolvers.set(kind, resolver);
    return resolver;
  };
  const purge = () => {
    cached.purge();
    files.forget();
  };
  return { resolverFor, purge };
}

/**
 * Where the manifest of a file is that of the root, `enhanced-resolve` says `.src/main.js` where it means `./src/main.js`, which
 * no entry of the field `browser` fits.
 */
const belowTheRoot = {
  apply(resolver: EnhancedResolver): void {
    for (const step of ['described-resolve', 'described-relative', 'raw-file']) {
      resolver.ensureHook(`before-${step}`).tapAsync('gantry', (request, _, callback) => {
        const { descriptionFileRoot, relativePath } = request;
        if (descriptionFileRoot === '/' && relativePath)
          request.relativePath = relativePath.replace(/^\.(?=[^/])/, './');
        callback();
      });
    }
  },
};

function conditionsFor(kind: RequestKind | undefined, names: string[]): string[] {
  if (kind === undefined) return names;
  return [...names.filter((name) => name !== 'import' && name !== 'require'), kind];
}

/** The functions that the resolver calls when it does not wait. Manifests come as values: their bytes are no `Buffer`. */
function synchronous(files: ResolvingFiles, faults: Faults): FileSystem {
  const noting =
    (read: (path: string) => unknown) =>
    (path: string): unknown => {
      try {
        return read(path);
      } catch (error) {
        faults.note(error);
        throw error;
      }
    };
  const functions = {
    readFileSync: noting((path) => files.read('readFile', path)),
    readJsonSync: noting((path) => JSON.parse(files.read('readFile', path) as string)),
    readlinkSync: noting((path) => files.read('readlink', path)),
    statSync: noting((path) => files.read('stat', path)),
  };
  return functions as unknown as FileSystem;
}

type Callback = (error: unknown, result?: unknown) => void;

/** Node's older form of the same functions: the last parameter is called. */
function callbacks(files: ResolvingFiles, faults: Faults): FileSystem {
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
    readFile: wrap((path) => files.readLater('readFile', path)),
    readJson: wrap(async (path) => JSON.parse((await files.readLater('readFile', path)) as string)),
    readlink: wrap((path) => files.readLater('readlink', path)),
    stat: wrap((path) => files.readLater('stat', path)),
  };
  return functions as unknown as FileSystem;
}

function notFound(specifier: string | URL, importer: string | URL, cause: unknown): GantryError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  const message = unescaped(`${specifier}, imported by ${importer}, leads to no file${reason}`);
  return new GantryError({ code: 'MODULE_NOT_FOUND', message }, { cause });
}
