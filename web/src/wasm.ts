/**
 * The wasm module as the workers see it. wasm-bindgen's own declarations say `any` where values cross; these types are
 * the contract instead, and this is the one file that imports the generated glue.
 */
import init, * as glue from '../wasm/gantry.js';
import { baseAddress } from './base-address.js';
import type { InstallEvent } from './call-events.js';
import { GantryError } from './errors.js';
import type {
  ArchiveFormat,
  DependencyChanges,
  DependencyKind,
  DirectoryEntryData,
  FileLocation,
  FileStatData,
  Granted,
  InstalledProject,
  PackageChanges,
  Patience,
  Pruning,
  StoreUsage,
  Target,
  TreeListing,
  Verification,
} from './protocol.js';
import { RELOAD } from './script-failure.js';

export interface CoordinatorOptions extends Patience {
  registry: string;
  scopes?: Record<string, string>;
  token?: string;
  tokens?: Record<string, string>;
  replaceRegistryHost?: string;
  /** Bytes of a pack that gets no more packages. */
  packBytes?: number;
  /** Whether nothing of the store outlives its worker. */
  inMemory?: boolean;
}

export interface InstallRequest {
  project?: string;
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
  changes?: DependencyChanges;
}

/** What the coordinator's wasm wants of an unpack worker's: a text between the two, and the tarball where the page has it. */
export interface UnpackJob {
  text: string;
  body: Uint8Array | undefined;
}

/** Made by an unpack worker's wasm for the coordinator's; opaque between them. */
export type UnpackResult = unknown;

/** The unpack workers, as the coordinator's wasm calls them. */
export interface PoolPort {
  readonly size: number;
  /** At the start of an install; the pack files for each worker. */
  open(packs: string[]): Promise<void>;
  /** On whichever worker is free; what has most bytes begins first. */
  unpack(text: string, size: number, body: Uint8Array | undefined): Promise<UnpackResult>;
  /** Part of a pack that a worker has; `undefined` when it has let go of it. */
  read(worker: number, pack: number, offset: number, length: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** When it resolves, everything unpacked so far is durable. */
  flush(): Promise<void>;
  /** Flushes and lets go of the pack files; the workers stay. */
  close(): Promise<void>;
}

export interface WasmCoordinator {
  install(
    request: InstallRequest,
    onEvent: ((event: InstallEvent) => void) | undefined,
    signal: AbortSignal,
  ): Promise<InstalledProject>;
  conflicts(request: InstallRequest, signal: AbortSignal): Promise<string>;
  outdated(request: InstallRequest, packages: string[], all: boolean, signal: AbortSignal): Promise<string>;
  project(name: string): Promise<InstalledProject | undefined>;
  readFile(project: string, path: string): Promise<Uint8Array<ArrayBuffer>>;
  readMany(project: string, paths: readonly string[]): Promise<(Uint8Array<ArrayBuffer> | undefined)[]>;
  readdir(project: string, path: string, recursive: boolean): DirectoryEntryData[];
  stat(project: string, path: string): FileStatData;
  lstat(project: string, path: string): FileStatData;
  readlink(project: string, path: string): string;
  realpath(project: string, path: string): string;
  locate(project: string, path: string): FileLocation;
  listing(project: string): TreeListing;
  readRanges(keys: string[], offsets: number[], sizes: number[]): Promise<Uint8Array<ArrayBuffer>[]>;
  archive(project: string, format: ArchiveFormat): WasmArchive;
  /** From now on this store is what the archive is read from. */
  continueArchive(archive: WasmArchive): void;
  treeDigest(project: string): Promise<string>;
  why(project: string, query: string): string;
  usage(): Omit<StoreUsage, keyof Granted>;
  verify(signal: AbortSignal): Promise<Verification>;
  projects(): string[];
  removeProject(name: string): PackageChanges | undefined;
  prune(): Promise<Pruning>;
  clear(): Promise<void>;
  /** What removing every project would change. */
  hasLongPast(): boolean;
  forgetPast(): Promise<void>;
  removals(): Pick<InstalledProject, 'name' | 'changes'>[];
  /** Name of a file that this store has, and no other one. */
  mark(): string;
  /** Whether the store's files are there, and not removed by the browser or its user. */
  isThere(): Promise<boolean>;
  close(): Promise<void>;
}

/** An archive being made. One part at a time. */
export interface WasmArchive {
  next(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Hold nothing of the store: the next part needs something to be read from. Not while a part is being made. */
  letGo(): void;
  /** From now on it is read from the files of a store. Not while a part is being made. */
  reopen(store: string): Promise<void>;
  /** Not while a part is being made. */
  free(): void;
}

/** A project that is read here, without the coordinator. What ends in `Sync` works in workers that read synchronously. */
export interface WasmReader {
  lockfile(): string;
  method(): 'access handles' | 'snapshots';
  /** The reader may be closed meanwhile. */
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
  readFileSync(path: string): Uint8Array<ArrayBuffer>;
  readdir(path: string, recursive: boolean): DirectoryEntryData[];
  /** `undefined` where nothing is, as of `lstat`: not an error, which costs some ten times as much. */
  stat(path: string): FileStatData | undefined;
  lstat(path: string): FileStatData | undefined;
  readlink(path: string): string;
  realpath(path: string): string;
  locate(path: string): FileLocation;
  listing(): TreeListing;
  /** The reader may be closed meanwhile. */
  readRanges(keys: string[], offsets: number[], sizes: number[]): Promise<Uint8Array<ArrayBuffer>[]>;
  readRangesSync(keys: string[], offsets: number[], sizes: number[]): Uint8Array<ArrayBuffer>[];
  archive(format: ArchiveFormat): WasmArchive;
  /** Until it resolves the reader must not be closed. */
  treeDigest(): Promise<string>;
  close(): void;
}

/** What the journal of a store said when they were opened. */
export interface WasmRecords {
  project(name: string): InstalledProject | undefined;
  projects(): string[];
  usage(): Omit<StoreUsage, keyof Granted>;
  why(project: string, query: string): string;
  free(): void;
}

export interface WasmUnpacker {
  unpack(text: string, body: Uint8Array | undefined): Promise<UnpackResult>;
  /** Gives up all that is being unpacked: it rejects. */
  giveUp(): void;
  read(pack: number, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  flush(): void;
  /** Resolves when no pack is being opened; not before may they be closed. */
  openingEnded(): Promise<void>;
  close(): void;
}

export interface OpenPacks {
  /** JSON. What is called `name` in it are files that the worker opens, and makes where they are missing. */
  packs: string;
  /** Whether a worker that was lost had opened them before. */
  successor: boolean;
  /** Bytes of large tarballs that the worker may hold at a time. */
  room: number;
}

interface WasmModule {
  Coordinator: {
    open(options: CoordinatorOptions, pool: PoolPort, folder: FileSystemDirectoryHandle): Promise<WasmCoordinator>;
  };
  Reader: { open(options: { store: string; project: string }): Promise<WasmReader> };
  Records: { open(store: string): Promise<WasmRecords> };
  /** The folder of a store in OPFS, made where it is missing. */
  openStoreFolder(store: string): Promise<FileSystemDirectoryHandle>;
  /** Has what is going to be needed compiled, by doing it once with something small. */
  rehearseUnpacking(): void;
  /** From now on this worker has answers of its own for the packages `a`, `b` and `c` of that registry. */
  rehearseRegistry(registry: string): void;
  Unpacker: { open(options: OpenPacks, folder: FileSystemDirectoryHandle): Promise<WasmUnpacker> };
}

export const { Coordinator, openStoreFolder, Reader, Records, rehearseRegistry, rehearseUnpacking, Unpacker } =
  glue as unknown as WasmModule;

/** Fetch and compile the module. The result can be posted to other workers, which then compile nothing. */
export async function compile(url: string | undefined, signal: AbortSignal): Promise<WebAssembly.Module> {
  // Some bundlers write an address without an origin there.
  const beside = String(new URL('../wasm/gantry_bg.wasm', import.meta.url));
  const response = await fetch(url ?? new URL(beside, baseAddress()), { signal });
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
  // Streaming needs the right media type, which simple file servers do not send.
  return response.headers.get('content-type')?.startsWith('application/wasm')
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

/** Why {@link compile} or {@link instantiate} failed. */
export function moduleUnavailable(error: unknown): GantryError {
  return new GantryError({
    code: 'WASM_UNAVAILABLE',
    message: `The wasm module could not be loaded: ${error instanceof Error ? error.message : error}`,
    hint: `Check that wasm/gantry_bg.wasm of the package is served, or give its address as \`wasmUrl\`, and that the Content-Security-Policy that counts here allows it: connect-src, and script-src 'wasm-unsafe-eval'. ${RELOAD}`,
  });
}

/** Make this thread's instance; once per thread, before anything else of the module is used. */
export async function instantiate(module: WebAssembly.Module): Promise<void> {
  await init({ module_or_path: module });
}
