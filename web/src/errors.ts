/**
 * Every failure a caller can see is a {@link GantryError} with a stable `code`.
 *
 * Errors cross worker boundaries as data ({@link ErrorData}) because a structured clone keeps neither the class nor the
 * own properties of an `Error`.
 */
import type { ErrorCode as EngineErrorCode } from './codes.js';

/** Codes of failures that arise on the page's side of the wasm module. The engine's own are generated from Rust. */
export type PageErrorCode =
  /** The caller's `AbortSignal` fired. `cause` is the signal's reason. */
  | 'ABORTED'
  /** `close()` was called, or the object was used after it. */
  | 'CLOSED'
  /** A file could not be written into the folder that a tree is exported to. */
  | 'EXPORT_FAILED'
  /** The engine failed in a way it has no code for: a defect. */
  | 'INTERNAL'
  /** An option has a value that cannot be used. */
  | 'INVALID_OPTION'
  /** An import that leads to no file (`gantry/resolve`). */
  | 'MODULE_NOT_FOUND'
  /** This browser or context has no synchronous access to OPFS. A store in memory (`storage: 'memory'`) needs none. */
  | 'STORAGE_UNAVAILABLE'
  /** Something is under way in the store in another tab, and waiting for it was given up. */
  | 'STORE_BUSY'
  /** The wasm module could not be fetched or compiled. */
  | 'WASM_UNAVAILABLE'
  /** A worker ended or never started: out of memory, closed by the browser, or its script did not load. */
  | 'WORKER_LOST';

/** Codes of `project.fs`, as Node's `fs` gives them. */
export type FileSystemErrorCode =
  | 'ABORT_ERR'
  | 'EACCES'
  | 'EBADF'
  | 'EEXIST'
  | 'EINVAL'
  | 'EISDIR'
  | 'ELOOP'
  | 'ENOENT'
  | 'ENOTDIR'
  | 'ENAMETOOLONG'
  | 'EROFS'
  | 'ERR_DIR_CLOSED'
  | 'ERR_FS_EISDIR'
  | 'ERR_INVALID_ARG_TYPE'
  | 'ERR_INVALID_ARG_VALUE'
  | 'ERR_INVALID_FILE_URL_HOST'
  | 'ERR_INVALID_FILE_URL_PATH'
  | 'ERR_INVALID_STATE'
  | 'ERR_INVALID_URL_SCHEME'
  | 'ERR_OUT_OF_RANGE';

export type GantryErrorCode = EngineErrorCode | FileSystemErrorCode | PageErrorCode;

/** An error as it travels between threads. */
export interface ErrorData {
  code: GantryErrorCode;
  message: string;
  /** What to do about it. */
  hint?: string;
  /** The package it concerns, as `name@version` or `name`. */
  package?: string;
  /** Of errors of `project.fs`: the number that Linux has for the code, negative as in Node. */
  errno?: number;
  /** Of errors of `project.fs`: what was called, by the name that Node gives. */
  syscall?: string;
  /** Of errors of `project.fs`: the path as it was given. */
  path?: string;
}

export class GantryError extends Error {
  override readonly name: string = 'GantryError';
  /** Stable, and made for comparing. */
  readonly code: GantryErrorCode;
  /** What to do about it, where there is something to say. */
  readonly hint: string | undefined;
  /** The package it concerns, where it concerns one. */
  readonly package: string | undefined;
  /** Of errors of `project.fs`, as Node has it on Linux: -2 for `ENOENT`. */
  readonly errno: number | undefined;
  /** Of errors of `project.fs`, as Node has it: `stat`, `open`, `scandir`. */
  readonly syscall: string | undefined;
  /** Of errors of `project.fs`: the path as it was given. */
  readonly path: string | undefined;

  constructor(data: ErrorData, options?: { cause?: unknown }) {
    super(data.message, options);
    this.code = data.code;
    this.hint = data.hint;
    this.package = data.package;
    this.errno = data.errno;
    this.syscall = data.syscall;
    this.path = data.path;
  }
}

/** Any thrown value as data. What has no code of its own is a defect, and says so. */
export function toErrorData(thrown: unknown): ErrorData {
  const source: Partial<ErrorData> = typeof thrown === 'object' && thrown !== null ? thrown : {};
  const message = typeof source.message === 'string' ? source.message : String(thrown);
  const data: ErrorData = { code: typeof source.code === 'string' ? source.code : 'INTERNAL', message };
  if (typeof source.hint === 'string') data.hint = source.hint;
  if (typeof source.package === 'string') data.package = source.package;
  if (typeof source.errno === 'number') data.errno = source.errno;
  if (typeof source.syscall === 'string') data.syscall = source.syscall;
  if (typeof source.path === 'string') data.path = source.path;
  return data;
}
