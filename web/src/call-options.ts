/** What calls of a `Gantry` take as options, and what each of them may be. */
import type { InstallEvent } from './call-events.js';
import {
  type Checks,
  checkOptions,
  flag,
  listener,
  milliseconds,
  record,
  signal,
  text,
  textOrNull,
  workers,
} from './options.js';
import type { PackageJson } from './package-json.js';
import type { DependencyChanges, DependencyKind, Patience, StorageKind, Target } from './protocol.js';
import type { WorkspaceChoice } from './workspaces.js';

export interface OpenOptions extends Patience {
  /** Address of the registry; relative addresses are taken from the page's. */
  registry: string;
  /** Name of the store, a folder in OPFS. Stores share nothing. */
  store?: string;
  /**
   * Where the store is. In OPFS unless given (`opfs`): it outlives the page, and tabs with the same store share it.
   *
   * `memory`: for pages that get no storage, where opening fails with `STORAGE_UNAVAILABLE`: in private windows, in frames that
   * are sandboxed or of another site, without a secure context; nothing else is done there unless asked for. The store belongs
   * to the `Gantry` that is opened, also beside others of its name, and is gone once that is closed or the page left; a page
   * whose worker ends loses it all. All that is installed takes memory. No other worker or tab can read it: not `gantry/sync`,
   * and `watchProject` hears nothing of it.
   */
  storage?: StorageKind;
  /** Registries of scopes: `{ '@mine': 'https://npm.mine.example/' }`. */
  scopes?: Record<string, string>;
  /** Bearer token for `registry`. It is sent there and nowhere else. */
  token?: string;
  /**
   * Bearer tokens for other registries, such as those of scopes, by their addresses: `{ 'https://npm.mine.example/': '…' }`.
   * Each is sent to its registry and nowhere else.
   */
  tokens?: Readonly<Record<string, string>>;
  /**
   * Whose tarball addresses are taken from `registry` instead, also those of scopes: `always`, `never` or the ones of one host. A
   * registry on the page's own origin is a proxy, so unless this is given all are taken from there, those of a scope from the
   * scope's registry; else npm's own rule holds.
   */
  replaceRegistryHost?: 'always' | 'never' | (string & {});
  /** Where `gantry_bg.wasm` is, when it is not beside the package's scripts. */
  wasmUrl?: string | URL;
  /** Threads that unpack, 1 to 64; 2 to 4 by the number of cores unless given. */
  workers?: number;
  /**
   * Milliseconds to wait for what is under way in other tabs. No limit unless given, and for `Infinity`. If it is, the worker has as long to start,
   * and 10 seconds at least.
   */
  timeout?: number;
  signal?: AbortSignal;
  /** Called once where another tab has the store, and this call begins to wait. */
  onWaiting?: () => void;
}

/** For a call that may have to wait for another tab. */
export interface TurnOptions {
  /** Gives up waiting, with `ABORTED`: for other tabs, and for what is under way in this one. What has begun is completed. */
  signal?: AbortSignal;
  /** Called once where another tab has the store, and this call begins to wait. */
  onWaiting?: () => void;
}

export type RemoveOptions = Pick<OpenOptions, 'store' | 'timeout' | 'signal' | 'onWaiting'>;

export interface InstallOptions extends DependencyChanges, WorkspaceChoice {
  /** A `package.json`, as text, as the bytes of that, or as the object it holds. */
  packageJson: PackageJson;
  /**
   * Text of a `package-lock.json` to keep to, as npm does. Unless given it is the one that the project's last install
   * left; `null` resolves everything anew. Any version will do, and what a merge left conflict markers in.
   */
  lockfile?: string | null;
  /** What errors call that file, where it is an `npm-shrinkwrap.json`. */
  lockfileName?: string;
  /** Version of the lock to write. Unless given it is that of `lockfile`, and 3 where there is none or that is 1. */
  lockfileVersion?: 1 | 2 | 3;
  /** Name under which the tree is kept; one origin can hold many. */
  project?: string;
  /** The platform to install for. */
  target?: Target;
  /** Kinds of dependencies to leave out. */
  omit?: DependencyKind | readonly DependencyKind[];
  /** `npm ci`: fail where `packageJson` and `lockfile` disagree, and keep the lock as it is. */
  frozen?: boolean;
  /** Ask for nothing: fail with `REGISTRY_NOT_CACHED` where something is not in the store. */
  offline?: boolean;
  /** Use what is in the store however old it is; ask only for what is not there. */
  preferOffline?: boolean;
  /** Ask whether what is in the store has changed, even if the registry said that it is fresh. */
  preferOnline?: boolean;
  /** `fast` leaves out lock fields that would cost requests of their own. */
  lockFields?: 'npm' | 'fast';
  /** npm's `before`: a date, or a date and a time, as ISO 8601 writes them. Versions published later do not exist. */
  before?: string;
  /** Tell at the end, by an event of type `timing`, where the time went. */
  timing?: boolean;
  /**
   * The project's own files that an install reads, by path (`packages/a/package.json`): the `package.json` of each
   * workspace and of each folder that a `file:` dependency names, and tarballs that one names. Others are passed over.
   */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /**
   * Text of the project's `.npmrc`. What it says holds as it does for the command: how dependencies are resolved and saved, what
   * is left out, what becomes of the lock, registries of scopes, credentials, time-outs; proxies and certificates are the
   * browser's affair. Other options go before it, and so does the `registry` that the store was opened with.
   */
  npmrc?: string;
  /** What `${NAME}` stands for in `npmrc`; where nothing is given it stays as it is. */
  environment?: Readonly<Record<string, string>>;
  onEvent?: (event: InstallEvent) => void;
  signal?: AbortSignal;
}

/** What `install` takes will do, but for changes. */
export interface OutdatedOptions extends Omit<InstallOptions, keyof DependencyChanges> {
  /** Names of packages, wherever they are in the tree. Unless given: what the project and its workspaces ask for. */
  packages?: string | readonly string[];
  /** Without names: what any package asks for. */
  all?: boolean;
}

// `undefined`: looked at where it is used, or by the coordinator.
const OPEN: Checks<OpenOptions> = {
  registry: undefined,
  store: text,
  storage: text,
  scopes: record,
  token: text,
  tokens: record,
  replaceRegistryHost: text,
  wasmUrl: undefined,
  workers,
  timeout: milliseconds,
  signal,
  onWaiting: listener,
  fetchTimeout: undefined,
  fetchRetries: undefined,
  fetchRetryFactor: undefined,
  fetchRetryMintimeout: undefined,
  fetchRetryMaxtimeout: undefined,
};

const INSTALL: Checks<InstallOptions> = {
  packageJson: undefined,
  lockfile: textOrNull,
  lockfileName: text,
  lockfileVersion: undefined,
  project: text,
  target: record,
  omit: undefined,
  frozen: flag,
  offline: flag,
  preferOffline: flag,
  preferOnline: flag,
  lockFields: text,
  before: text,
  timing: flag,
  files: record,
  npmrc: text,
  environment: record,
  onEvent: listener,
  signal,
  add: undefined,
  remove: undefined,
  update: undefined,
  saveAs: text,
  savePrefix: text,
  workspace: undefined,
  workspaces: flag,
  includeWorkspaceRoot: flag,
};

export function checkOpen(options: OpenOptions): void {
  checkOptions<OpenOptions>('Gantry.open', options, OPEN);
}

/** All that `open` takes will do, so that one object can be given to both. */
export function checkRemove(options: object): void {
  checkOptions<OpenOptions>('Gantry.remove', options, OPEN);
}

export function checkOutdated(options: OutdatedOptions): void {
  const { add, remove, update, saveAs, savePrefix, ...checks } = INSTALL;
  checkOptions<OutdatedOptions>('gantry.outdated', options, { ...checks, packages: undefined, all: flag });
}

export function checkInstall(call: 'install' | 'explain', options: InstallOptions): void {
  checkOptions<InstallOptions>(`gantry.${call}`, options, INSTALL);
}
