/**
 * What the page and the coordinator worker say to each other: one closed table of methods, nothing else.
 *
 * Calls carry an integer id; answers, events and aborts refer to it. Bulk bytes are transferred, never cloned. Only
 * plain data crosses: errors travel as {@link ErrorData}.
 */
import type { InstallEvent, OpenEvent, WaitingEvent } from './call-events.js';
import type { ErrorData } from './errors.js';
import type { OutdatedDependency, PackageExplanation, PeerConflict } from './explanations.js';
import type { ScriptFailure } from './script-failure.js';
import type { WorkspaceParameters } from './workspaces.js';

/** How patient to be with a registry: npm's settings of these names. Times are in milliseconds. */
export interface Patience {
  /**
   * Time without any progress after which a request is given up, to be tried again; 30,000 unless given. As long as it has no
   * answer, what comes of others from the same origin is progress, too: browsers keep requests waiting for their turn.
   */
  fetchTimeout?: number;
  /** How often a request is tried again; 3 unless given. */
  fetchRetries?: number;
  /** By what each wait before that is longer than the one before; 4 unless given. */
  fetchRetryFactor?: number;
  /** The first wait; 250 unless given, and up to twice as long, so that not everybody comes back at once. */
  fetchRetryMintimeout?: number;
  /** The longest wait, also where a registry asks for a longer one; 60,000 unless given. */
  fetchRetryMaxtimeout?: number;
}

/** Where a store is: among the files that browsers keep for an origin, or in memory. */
export type StorageKind = 'opfs' | 'memory';

export interface OpenParameters extends Patience {
  /** Absolute, ends with a slash. */
  registry: string;
  /** In memory, a name that no other store has. */
  store: string;
  storage: StorageKind;
  scopes?: Record<string, string>;
  token?: string;
  tokens?: Record<string, string>;
  replaceRegistryHost?: string;
  wasmUrl?: string;
  workers?: number;
  /** Milliseconds to wait for what is under way in other tabs. */
  timeout?: number;
  /** Held by the worker while it lives, so that the page can tell that it died. */
  aliveLock: string;
  /** Held by the page, where it can, until the worker holds its own: whether they see each other's. */
  pageLock?: string;
}

export interface Target {
  /** npm's `process.platform` words: `linux`, `darwin`, `win32`, … */
  os: string;
  /** npm's `process.arch` words, and `wasm32`. */
  cpu: string;
  libc?: string;
}

export type DependencyKind = 'dev' | 'optional' | 'peer';

/** Changes to the project's own dependencies, by npm's rules. */
export interface DependencyChanges {
  /**
   * Packages to add, as one writes them after `npm install`: `left`, `left@^1`, `left@next`, `other@npm:left`, the address of
   * a tarball, a repository, a folder of `files`. One as a text, or several as a list.
   */
  add?: string | readonly string[];
  /** Names of dependencies to remove. */
  remove?: string | readonly string[];
  /** Packages to look up again wherever they are in the tree, as far as `packageJson` allows; `true`: all of them. */
  update?: string | readonly string[] | true;
  /** Which list `add` adds to. Unless given it is the one that has the name, and else `dependencies`. */
  saveAs?: 'prod' | DependencyKind;
  /** What stands before the version that is saved: `^` unless given, nothing for that version alone, as `save-exact` has it. */
  savePrefix?: string;
}

/** The same for the coordinator. */
export interface ChangeParameters extends Pick<DependencyChanges, 'saveAs' | 'savePrefix'> {
  add?: string[];
  remove?: string[];
  update?: string[] | true;
}

export interface InstallParameters extends WorkspaceParameters {
  project: string;
  packageJson: string;
  lockfile?: string;
  anew?: boolean;
  lockfileName?: string;
  lockfileVersion?: 1 | 2 | 3;
  target?: Target;
  omit?: DependencyKind[];
  frozen?: boolean;
  offline?: boolean;
  preferOffline?: boolean;
  preferOnline?: boolean;
  lockFields?: 'npm' | 'fast';
  timing?: boolean;
  files?: Record<string, Uint8Array>;
  before?: string;
  npmrc?: string;
  environment?: Record<string, string>;
  changes?: ChangeParameters;
}

/** What an install left behind. */
export interface InstalledProject {
  name: string;
  /** Text of `package.json`, where the install has changed it. */
  packageJson?: string;
  /** Texts of the `package.json` of workspaces that the install has changed, by path. */
  workspaceManifests: Record<string, string>;
  /** Text of `package-lock.json`, as npm would write it, or as it was given where npm would let it be. */
  lockfile: string;
  packages: number;
  files: number;
  /** Compressed bytes received. */
  bytes: number;
  /** Packages that the store already had. */
  reused: number;
  requests: number;
  /** Milliseconds. */
  elapsed: number;
  /** Packages with install scripts, as `name@version`. They are never run. */
  scripts: string[];
  /** What is different from before; nothing, for a project that was not installed but opened. */
  changes: PackageChanges;
  /** Whether anything is: where no folder is, the lock may be another one. */
  hasChanged: boolean;
  /** What tells the announcement of these changes from others, where something has changed (`changes.ts`). */
  announcement?: string;
}

/** Folders of packages, as `node_modules/a`, each list sorted. */
export interface PackageChanges {
  added: string[];
  removed: string[];
  /** Another version, or other content, than before at the same place. */
  replaced: string[];
}

export type EntryKind = 'file' | 'directory' | 'symlink';

export interface DirectoryEntryData {
  name: string;
  kind: EntryKind;
}

export interface FileStatData {
  kind: EntryKind;
  size: number;
  mode: number;
}

/** Where the bytes of a file are: in a package that the store has under `key`, or here. */
export type FileLocation = { mode: number; size: number } & (
  | { key: string; offset: number }
  | { bytes: Uint8Array<ArrayBuffer> }
);

/** Every file and link of a tree, sorted by path, in columns. Texts are joined by NUL. */
export interface TreeListing {
  paths: string;
  /** 0 a file, 1 one that may be run, 2 a link, 3 a file that no package has. */
  kinds: Uint8Array;
  /** Of each file the number of its package in `keys`, and where it is in that package. */
  packages: Uint32Array;
  offsets: Float64Array;
  sizes: Float64Array;
  keys: string;
  /** Of each link, in their order, where it leads. */
  targets: string;
  /** Of each file that no package has, in their order, its bytes. */
  made: Uint8Array<ArrayBuffer>[];
}

export type ArchiveFormat = 'tar' | 'zip';

export interface StoreUsage extends Granted {
  packages: number;
  /** Bytes in the packs of this store. */
  bytes: number;
  files: number;
}

/** What there is for a store to use. */
export interface Granted {
  /** What the browser grants this origin, in bytes; of a store in memory `Infinity`, since no browser tells. */
  quota: number;
  /** What this origin uses of it, in bytes; of a store in memory what that holds, but for what an install is writing. */
  usage: number;
  /** Whether the browser keeps this origin's storage under pressure (`persist`); it may remove all of it otherwise. */
  persisted: boolean;
}

/** What removing what no project needs came to. */
export interface Pruning {
  /** Packages that left the store. */
  packages: number;
  /** Bytes that the store takes less than before. */
  bytes: number;
  /** Packages that were found damaged and have left the store: the next install fetches them anew. */
  damaged: number;
}

/** What a look at everything that is stored has found. */
export interface Verification {
  packages: number;
  /** Bytes read. */
  bytes: number;
  /** Packages that were damaged and have left the store, as `name@version`. */
  damaged: string[];
  /** Projects that lack something now: install them again. */
  projects: string[];
}

interface PathParameters {
  project: string;
  path: string;
}

/** What the page has to know of a store that is open. */
export interface OpenedStore {
  /** Name of the empty file that no other store has, if it is in files. */
  mark: string | undefined;
}

/** The whole vocabulary: method → parameters, result, events. */
export interface Methods {
  open: { parameters: OpenParameters; result: OpenedStore; event: OpenEvent };
  install: { parameters: InstallParameters; result: InstalledProject; event: InstallEvent };
  project: { parameters: { name: string }; result: InstalledProject | undefined; event: never };
  readFile: { parameters: PathParameters; result: Uint8Array<ArrayBuffer>; event: never };
  readMany: {
    parameters: { project: string; paths: readonly string[] };
    result: (Uint8Array<ArrayBuffer> | undefined)[];
    event: never;
  };
  readdir: {
    parameters: PathParameters & { recursive: boolean };
    /** With `recursive`, names are paths. */
    result: DirectoryEntryData[];
    event: never;
  };
  stat: { parameters: PathParameters; result: FileStatData; event: never };
  lstat: { parameters: PathParameters; result: FileStatData; event: never };
  readlink: { parameters: PathParameters; result: string; event: never };
  realpath: { parameters: PathParameters; result: string; event: never };
  locate: { parameters: PathParameters; result: FileLocation; event: never };
  readRanges: {
    parameters: { project: string; keys: string[]; offsets: number[]; sizes: number[] };
    result: Uint8Array<ArrayBuffer>[];
    event: never;
  };
  listing: { parameters: { project: string }; result: TreeListing; event: never };
  /** Begins an archive; the result is its number. */
  archive: { parameters: { project: string; format: ArchiveFormat }; result: number; event: never };
  archivePart: { parameters: { archive: number }; result: Uint8Array<ArrayBuffer> | undefined; event: never };
  endArchive: { parameters: { archive: number }; result: undefined; event: never };
  why: { parameters: { project: string; query: string }; result: PackageExplanation[]; event: never };
  explain: { parameters: InstallParameters; result: PeerConflict[]; event: WaitingEvent };
  outdated: {
    parameters: { request: InstallParameters; packages: string[]; all: boolean };
    result: OutdatedDependency[];
    event: WaitingEvent;
  };
  treeDigest: { parameters: { project: string }; result: string; event: never };
  usage: { parameters: undefined; result: StoreUsage; event: never };
  verify: { parameters: undefined; result: Verification; event: WaitingEvent };
  projects: { parameters: undefined; result: string[]; event: never };
  /** Whether there was one. */
  removeProject: { parameters: { name: string }; result: boolean; event: WaitingEvent };
  prune: { parameters: undefined; result: Pruning; event: WaitingEvent };
  clear: { parameters: undefined; result: undefined; event: WaitingEvent };
  close: { parameters: undefined; result: undefined; event: never };
}

export type Method = keyof Methods;
export type Parameters<M extends Method> = Methods[M]['parameters'];
export type Result<M extends Method> = Methods[M]['result'];
export type Event<M extends Method> = Methods[M]['event'];

/** Page → coordinator. Events are sent to who listens: an install has thousands, and each has to be made and copied. */
export type Request =
  | { [M in Method]: { id: number; method: M; parameters: Parameters<M>; listens: boolean } }[Method]
  | Abort
  | Hidden
  | Changed
  | UnpackWorkerFailure;
export interface Abort {
  abort: number;
}
/** Page → coordinator: whether nobody sees the page, so that the browser may freeze it. */
export interface Hidden {
  hidden: boolean;
}
/** Page → coordinator: the page has heard that this project has changed. */
export interface Changed {
  changed: string;
}
/** Page → coordinator, too: an unpack worker's script failed or could not be loaded, or did not begin. */
export interface UnpackWorkerFailure extends ScriptFailure {
  failed: number;
}
/** What the coordinator asks of the page, which starts and ends workers for it; numbers are the coordinator's. */
export type UnpackWorkerRequest =
  | { start: number; name: string; port: MessagePort }
  | { give: number; module: WebAssembly.Module }
  | { end: number };

/** Coordinator → page. */
export type Response =
  | { id: number; events: readonly unknown[] }
  | { id: number; result: unknown }
  | { id: number; error: ErrorData }
  | { unpackWorker: UnpackWorkerRequest }
  /** The worker cannot go on; everything pending has failed. */
  | { fatal: ErrorData };

/** Of these options those that say how patient to be. */
export function patienceOf(options: Patience): Patience {
  const { fetchTimeout, fetchRetries, fetchRetryFactor, fetchRetryMintimeout, fetchRetryMaxtimeout } = options;
  return {
    ...(fetchTimeout !== undefined && { fetchTimeout }),
    ...(fetchRetries !== undefined && { fetchRetries }),
    ...(fetchRetryFactor !== undefined && { fetchRetryFactor }),
    ...(fetchRetryMintimeout !== undefined && { fetchRetryMintimeout }),
    ...(fetchRetryMaxtimeout !== undefined && { fetchRetryMaxtimeout }),
  };
}
