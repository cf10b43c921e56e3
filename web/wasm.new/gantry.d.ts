/* tslint:disable */
/* eslint-disable */

/**
 * An archive that is being made.
 */
export class ArchiveStream {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Lets go of what it is read from: the next part needs another.
     */
    letGo(): void;
    /**
     * The next part, or `undefined` after the last. After a failure there is none.
     */
    next(): Promise<Uint8Array | undefined>;
    /**
     * From now on it is read from the files of `store`, as they are now.
     */
    reopen(store: string): Promise<void>;
}

/**
 * One open store and the projects in it.
 */
export class Coordinator {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * A tree as an archive (`tar` or `zip`), in parts. It is the tree of now, whatever is installed meanwhile.
     */
    archive(project: string, format: string): ArchiveStream;
    /**
     * Removes everything of this store. Must not run beside an install.
     */
    clear(): Promise<void>;
    /**
     * Lets go of the store.
     */
    close(): Promise<void>;
    /**
     * The peer conflicts that an install has, as JSON.
     */
    conflicts(request: any, signal: AbortSignal): Promise<string>;
    /**
     * From now on this store is what `archive` is read from.
     */
    continueArchive(archive: ArchiveStream): void;
    /**
     * Writes the journal anew, without what has been replaced or removed since. Must not run beside an install, nor beside a
     * read.
     */
    forgetPast(): Promise<void>;
    /**
     * Whether it would pay to [forget](Self::forget_past) the journal's past.
     */
    hasLongPast(): boolean;
    /**
     * Installs a project. It is there, and the one before under its name is gone, when the promise resolves; on any
     * failure the one before stays. `on_event` is missing where nobody listens.
     */
    install(request: any, on_event: Function | null | undefined, signal: AbortSignal): Promise<any>;
    /**
     * Whether the store's files are there, and not removed by the browser or its user.
     */
    isThere(): Promise<boolean>;
    /**
     * Every file and link of a tree.
     */
    listing(project: string): any;
    /**
     * Where a file's bytes are.
     */
    locate(project: string, path: string): any;
    /**
     * What is at a path, a link at its end not followed.
     */
    lstat(project: string, path: string): any;
    /**
     * Name of a file that this store has, and no other one.
     */
    mark(): string;
    /**
     * Opens the store in `folder`, or makes it.
     */
    static open(options: any, pool: any, folder: FileSystemDirectoryHandle): Promise<Coordinator>;
    /**
     * The project as an earlier install left it, or `undefined`.
     */
    project(name: string): Promise<any>;
    /**
     * Names of all projects, sorted.
     */
    projects(): string[];
    /**
     * Removes what no project needs. Must not run beside an install, nor beside a read.
     */
    prune(): Promise<any>;
    /**
     * Bytes of a file.
     */
    readFile(project: string, path: string): Promise<Uint8Array>;
    /**
     * Bytes of several files; `undefined` for what is not there or not a file.
     */
    readMany(project: string, paths: string[]): Promise<Array<any>>;
    /**
     * Parts of packages, each by its package's key, an offset and a length; places are those that `locate` and `listing` give.
     */
    readRanges(keys: string[], offsets: Float64Array | number[], sizes: Float64Array | number[]): Promise<Array<any>>;
    /**
     * Names in a folder, sorted, each with what it is; or paths of all that is below it.
     */
    readdir(project: string, path: string, recursive: boolean): any;
    /**
     * Target of a link.
     */
    readlink(project: string, path: string): string;
    /**
     * The path without links.
     */
    realpath(project: string, path: string): string;
    /**
     * What removing every project would change: those who watch them are told when the store is cleared.
     */
    removals(): any;
    /**
     * Forgets a project; what was installed of it, or `undefined` where there is none of that name. Must not run beside an
     * install.
     */
    removeProject(name: string): any;
    /**
     * What is at a path, links followed.
     */
    stat(project: string, path: string): any;
    /**
     * The digest of the whole tree, equal on every platform for the same tree.
     */
    treeDigest(project: string): Promise<string>;
    /**
     * What is stored.
     */
    usage(): any;
    /**
     * Reads everything that is stored and drops what is damaged. Must not run beside an install.
     */
    verify(signal: AbortSignal): Promise<any>;
    /**
     * Why the packages that `query` names are in the tree, as JSON.
     */
    why(project: string, query: string): string;
}

/**
 * An open project.
 */
export class Reader {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * The tree as an archive (`tar` or `zip`), in parts.
     */
    archive(format: string): ArchiveStream;
    /**
     * Lets go of the packs.
     */
    close(): void;
    /**
     * Every file and link of the tree.
     */
    listing(): any;
    /**
     * Where a file's bytes are.
     */
    locate(path: string): any;
    /**
     * Text of the project's lock file.
     */
    lockfile(): string;
    /**
     * What is at a path, a link at its end not followed.
     */
    lstat(path: string): any;
    /**
     * How the packs are read: `access handles` or `snapshots`.
     */
    method(): string;
    /**
     * Opens a project of a store.
     */
    static open(options: any): Promise<Reader>;
    /**
     * Bytes of a file.
     */
    readFile(path: string): Uint8Array;
    /**
     * Parts of packages, each by its package's key, an offset and a length.
     */
    readRanges(keys: string[], offsets: Float64Array | number[], sizes: Float64Array | number[]): Array<any>;
    /**
     * Names in a folder, sorted, each with what it is; or paths of all that is below it.
     */
    readdir(path: string, recursive: boolean): any;
    /**
     * Target of a link.
     */
    readlink(path: string): string;
    /**
     * The path without links.
     */
    realpath(path: string): string;
    /**
     * What is at a path, links followed.
     */
    stat(path: string): any;
    /**
     * The digest of the whole tree, equal on every platform for the same tree. Until it resolves the reader must not be closed.
     */
    treeDigest(): Promise<string>;
}

/**
 * A store as its journal describes it.
 */
export class Records {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Reads those of a store. Where there is none nothing is recorded.
     */
    static open(store: string): Promise<Records>;
    /**
     * The project as its last install left it, or `undefined`.
     */
    project(name: string): any;
    /**
     * Names of all projects, sorted.
     */
    projects(): string[];
    /**
     * What is stored.
     */
    usage(): any;
    /**
     * Why the packages that `query` names are in the tree, as JSON.
     */
    why(project: string, query: string): string;
}

/**
 * Fetches, verifies and unpacks packages into packs that are this worker's alone.
 *
 * Several jobs may be under way: they wait for the network side by side, and unpack one after the other, but for a large one
 * that is unpacked while it comes.
 */
export class Unpacker {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Lets go of the packs.
     */
    close(): void;
    /**
     * When it returns, all packages of finished jobs are on durable storage.
     */
    flush(): void;
    /**
     * Gives up all jobs that are under way.
     */
    giveUp(): void;
    /**
     * Opens the packs: cuts off what was never recorded in them, or, in place of a worker that was lost, goes on behind what
     * that one wrote. `folder` is the store's.
     */
    static open(options: any, folder: FileSystemDirectoryHandle): Promise<Unpacker>;
    /**
     * Resolves when no pack is being opened, after which they can be let go of.
     */
    openingEnded(): Promise<void>;
    /**
     * Part of one of this worker's packs, as bytes.
     */
    read(pack: number, offset: number, length: number): Promise<Uint8Array>;
    /**
     * Runs one job to its end, which may be that all are given up.
     */
    unpack(job: string, body?: Uint8Array | number[] | null): Promise<any>;
}

/**
 * The folder of the store `name`, made where it is missing.
 */
export function openStoreFolder(name: string): Promise<FileSystemDirectoryHandle>;

/**
 * From now on this worker answers by itself what it asks of the registry at `registry` (which ends with a slash): the documents
 * and tarballs of the packages `a`, `b` and `c`.
 */
export function rehearseRegistry(registry: string): void;

/**
 * Unpacks a small package and forgets it.
 */
export function rehearseUnpacking(): void;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_archivestream_free: (a: number, b: number) => void;
    readonly __wbg_coordinator_free: (a: number, b: number) => void;
    readonly __wbg_reader_free: (a: number, b: number) => void;
    readonly __wbg_records_free: (a: number, b: number) => void;
    readonly __wbg_unpacker_free: (a: number, b: number) => void;
    readonly archivestream_letGo: (a: number) => void;
    readonly archivestream_next: (a: number) => any;
    readonly archivestream_reopen: (a: number, b: number, c: number) => any;
    readonly coordinator_archive: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
    readonly coordinator_clear: (a: number) => any;
    readonly coordinator_close: (a: number) => any;
    readonly coordinator_conflicts: (a: number, b: any, c: any) => any;
    readonly coordinator_continueArchive: (a: number, b: number) => void;
    readonly coordinator_forgetPast: (a: number) => any;
    readonly coordinator_hasLongPast: (a: number) => number;
    readonly coordinator_install: (a: number, b: any, c: number, d: any) => any;
    readonly coordinator_isThere: (a: number) => any;
    readonly coordinator_listing: (a: number, b: number, c: number) => [number, number, number];
    readonly coordinator_locate: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
    readonly coordinator_lstat: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
    readonly coordinator_mark: (a: number) => [number, number];
    readonly coordinator_open: (a: any, b: any, c: any) => any;
    readonly coordinator_project: (a: number, b: number, c: number) => any;
    readonly coordinator_projects: (a: number) => [number, number, number, number];
    readonly coordinator_prune: (a: number) => any;
    readonly coordinator_readFile: (a: number, b: number, c: number, d: number, e: number) => any;
    readonly coordinator_readMany: (a: number, b: number, c: number, d: number, e: number) => any;
    readonly coordinator_readRanges: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => any;
    readonly coordinator_readdir: (a: number, b: number, c: number, d: number, e: number, f: number) => [number, number, number];
    readonly coordinator_readlink: (a: number, b: number, c: number, d: number, e: number) => [number, number, number, number];
    readonly coordinator_realpath: (a: number, b: number, c: number, d: number, e: number) => [number, number, number, number];
    readonly coordinator_removals: (a: number) => [number, number, number];
    readonly coordinator_removeProject: (a: number, b: number, c: number) => [number, number, number];
    readonly coordinator_stat: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
    readonly coordinator_treeDigest: (a: number, b: number, c: number) => any;
    readonly coordinator_usage: (a: number) => [number, number, number];
    readonly coordinator_verify: (a: number, b: any) => any;
    readonly coordinator_why: (a: number, b: number, c: number, d: number, e: number) => [number, number, number, number];
    readonly openStoreFolder: (a: number, b: number) => any;
    readonly reader_archive: (a: number, b: number, c: number) => [number, number, number];
    readonly reader_close: (a: number) => void;
    readonly reader_listing: (a: number) => any;
    readonly reader_locate: (a: number, b: number, c: number) => [number, number, number];
    readonly reader_lockfile: (a: number) => [number, number];
    readonly reader_lstat: (a: number, b: number, c: number) => [number, number, number];
    readonly reader_method: (a: number) => [number, number];
    readonly reader_open: (a: any) => any;
    readonly reader_readFile: (a: number, b: number, c: number) => [number, number, number];
    readonly reader_readRanges: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number, number];
    readonly reader_readdir: (a: number, b: number, c: number, d: number) => [number, number, number];
    readonly reader_readlink: (a: number, b: number, c: number) => [number, number, number, number];
    readonly reader_realpath: (a: number, b: number, c: number) => [number, number, number, number];
    readonly reader_stat: (a: number, b: number, c: number) => [number, number, number];
    readonly reader_treeDigest: (a: number) => any;
    readonly records_open: (a: number, b: number) => any;
    readonly records_project: (a: number, b: number, c: number) => [number, number, number];
    readonly records_projects: (a: number) => [number, number];
    readonly records_usage: (a: number) => [number, number, number];
    readonly records_why: (a: number, b: number, c: number, d: number, e: number) => [number, number, number, number];
    readonly rehearseRegistry: (a: number, b: number) => void;
    readonly rehearseUnpacking: () => void;
    readonly unpacker_close: (a: number) => void;
    readonly unpacker_flush: (a: number) => [number, number];
    readonly unpacker_giveUp: (a: number) => void;
    readonly unpacker_open: (a: any, b: any) => any;
    readonly unpacker_openingEnded: (a: number) => any;
    readonly unpacker_read: (a: number, b: number, c: number, d: number) => any;
    readonly unpacker_unpack: (a: number, b: number, c: number, d: number, e: number) => any;
    readonly wasm_bindgen__convert__closures_____invoke__h10c24a4dce27acc3: (a: number, b: number, c: any, d: any) => void;
    readonly wasm_bindgen__convert__closures_____invoke__hfba9e1ee723d0c04: (a: number, b: number, c: any) => [number, number];
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __wbindgen_exn_store: (a: number) => void;
    readonly __externref_table_alloc: () => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __externref_drop_slice: (a: number, b: number) => void;
    readonly __wbindgen_destroy_closure: (a: number, b: number) => void;
    readonly __externref_table_dealloc: (a: number) => void;
    readonly __wbindgen_start: () => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;

/**
 * Instantiates the given `module`, which can either be bytes or
 * a precompiled `WebAssembly.Module`.
 *
 * @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
 *
 * @returns {InitOutput}
 */
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
 * If `module_or_path` is {RequestInfo} or {URL}, makes a request and
 * for everything else, calls `WebAssembly.instantiate` directly.
 *
 * @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
 *
 * @returns {Promise<InitOutput>}
 */
export default function __wbg_init (module_or_path: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;
