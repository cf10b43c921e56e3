/** What resolvers are given. It is looked at before anything is read. */
import type { ResolveOptions as EnhancedOptions } from 'enhanced-resolve';
import { type Checks, checkOptions, flag, invalid, shown } from './options.js';
import type { AnyFiles, SyncReadableFiles } from './resolving-files.js';

/** Options of `enhanced-resolve` that take the place of what is right for modules in a page, and where the sources are. */
export type ResolverOptions = Partial<Omit<EnhancedOptions, 'fileSystem' | 'useSyncFileSystemCalls'>> & {
  /**
   * The files of the project that are in no `node_modules`: its own `package.json` and modules, and those of its workspaces and
   * linked folders, by their paths from the project's root `/`. Unless given nothing is there.
   */
  sources?: AnyFiles;
};

export type SyncResolverOptions = Omit<ResolverOptions, 'sources'> & { sources?: SyncReadableFiles };

/** What asks: `import` and `import()`, or `require`. */
export type RequestKind = 'import' | 'require';

export interface RequestOptions {
  /** Puts `import` or `require` among the conditions, in the place of both. Unless given they are as the resolver was made. */
  kind?: RequestKind;
}

/** What is for `enhanced-resolve` it looks at itself. */
const RESOLVER: Checks<ResolverOptions> = {
  sources: undefined,
  alias: undefined,
  fallback: undefined,
  extensionAlias: undefined,
  extensionAliasForExports: flag,
  aliasFields: list,
  cachePredicate: undefined,
  cacheWithContext: flag,
  descriptionFiles: list,
  conditionNames: list,
  enforceExtension: flag,
  exportsFields: list,
  importsFields: list,
  extensions: list,
  unsafeCache: undefined,
  symlinks: flag,
  resolver: undefined,
  modules: undefined,
  mainFields: list,
  mainFiles: list,
  plugins: list,
  packageMap: undefined,
  pnpApi: undefined,
  roots: list,
  fullySpecified: flag,
  resolveToContext: flag,
  restrictions: list,
  preferRelative: flag,
  preferAbsolute: flag,
  tsconfig: undefined,
};

const REQUEST: Checks<RequestOptions> = {
  kind: (value) => (value === 'import' || value === 'require' ? undefined : "is neither 'import' nor 'require'"),
};

export function checkResolver(call: string, options: unknown): void {
  checkOptions<ResolverOptions>(call, options, RESOLVER);
}

/** Which kind of request it is, by the options of `resolve`. */
export function checkKind(options: RequestOptions | undefined): RequestKind | undefined {
  if (options !== undefined) checkOptions('resolve', options, REQUEST);
  return options?.kind;
}

/** That a project and its sources have what is called of them. Where it can be waited for, the synchronous functions will do. */
export function checkFiles(call: string, project: unknown, sources: unknown, names: readonly string[]): void {
  const fs = typeof project === 'object' && project !== null && 'fs' in project ? project.fs : undefined;
  if (!hasFunctions(fs, names)) {
    throw invalid(`${call} takes a project: ${shown(project)} has no fs with ${names.join(' and ')}`);
  }
  if (sources !== undefined && !hasFunctions(sources, names)) {
    throw invalid(`sources: ${shown(sources)} has no ${names.join(' and ')}`);
  }
}

function hasFunctions(files: unknown, names: readonly string[]): boolean {
  if (typeof files !== 'object' || files === null) return false;
  const has = (name: string) => typeof (files as Record<string, unknown>)[name] === 'function';
  return names.every(has) || names.every((name) => has(`${name}Sync`));
}

function list(value: unknown): string | undefined {
  return Array.isArray(value) ? undefined : 'is no list';
}
