/** Errors of `project.fs`, with the codes and messages of Node's `fs`. */
import { type ErrorData, GantryError } from './errors.js';
import { fromRoot } from './paths.js';

/** What can be wrong with a path or a file: the number that Linux has for it, and Node's words. */
const FAULTS = {
  EACCES: [-13, 'permission denied'],
  EBADF: [-9, 'bad file descriptor'],
  EEXIST: [-17, 'file already exists'],
  EINVAL: [-22, 'invalid argument'],
  EISDIR: [-21, 'illegal operation on a directory'],
  ELOOP: [-40, 'too many symbolic links encountered'],
  ENAMETOOLONG: [-36, 'name too long'],
  ENOENT: [-2, 'no such file or directory'],
  ENOTDIR: [-20, 'not a directory'],
  EROFS: [-30, 'read-only file system'],
} as const satisfies Record<string, readonly [number, string]>;

type Fault = keyof typeof FAULTS;

/** The error of a call that Node names `syscall`. In the message a relative path begins at the root. */
export function fileSystemError(code: Fault, syscall: string, path?: string, hint?: string): GantryError {
  const [errno, words] = FAULTS[code];
  const data: ErrorData = { code, errno, syscall, message: `${code}: ${words}, ${syscall}` };
  if (path !== undefined) {
    data.path = path;
    data.message += ` '${path.startsWith('/') || path === '' ? path : fromRoot(path)}'`;
  }
  if (hint !== undefined) data.hint = hint;
  return new GantryError(data);
}

/** What `rm` says of a directory that it is not to remove with all that is in it. */
export function isDirectoryError(path: string): GantryError {
  const message = `Path is a directory: rm returned EISDIR (is a directory) ${path}`;
  return new GantryError({ code: 'ERR_FS_EISDIR', message, errno: 21, syscall: 'rm', path });
}

/** What a tree says of a path, as the error of the call that asked. What is no fault of the path stays as it is. */
export function asErrorOf(syscall: string, path: string, error: unknown): unknown {
  return error instanceof GantryError && isFault(error.code) ? fileSystemError(error.code, syscall, path) : error;
}

/** Bytes of a name, as Linux has it. */
const LONGEST_NAME = 255;

/**
 * Where nothing is at a path that has a name which no folder can have: the folder that would have it. Where that is there Node
 * says that the name is too long.
 */
export function folderOfLongName(path: string): string | undefined {
  const names = path.split('/');
  // No character takes more than three bytes for each of its units.
  const isLong = (name: string) =>
    name.length * 3 > LONGEST_NAME && new TextEncoder().encode(name).length > LONGEST_NAME;
  const long = names.findIndex(isLong);
  return long === -1 ? undefined : names.slice(0, long).join('/') || '/';
}

/** Whether an error says that nothing is at a path whose folder is one. */
export function isNothing(error: unknown): boolean {
  return error instanceof GantryError && error.code === 'ENOENT';
}

/** Whether an error says that nothing is at a path. */
export function isMissing(error: unknown): boolean {
  return error instanceof GantryError && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Whether an error means that a path does not exist, to those who ask only that. No path that can be refused does. */
export function isNowhere(error: unknown): boolean {
  return isMissing(error) || (error instanceof GantryError && /^(ELOOP$|ENAMETOOLONG$|ERR_)/.test(error.code));
}

function isFault(code: string): code is Fault {
  return Object.hasOwn(FAULTS, code);
}

class AbortError extends GantryError {
  override readonly name = 'AbortError';

  constructor({ reason }: AbortSignal) {
    super({ code: 'ABORT_ERR', message: 'The operation was aborted' }, { cause: reason });
  }
}

/** What a caller's signal has ended. Node has a name of its own for it. */
export function abortError(signal: AbortSignal): GantryError {
  return new AbortError(signal);
}

export function invalidState(problem: string): GantryError {
  return new GantryError({ code: 'ERR_INVALID_STATE', message: `Invalid state: ${problem}` });
}

/** As Node shows a value that it does not take. */
export function received(value: unknown): string {
  if (value === undefined || value === null) return `Received ${value}`;
  if (typeof value === 'function') return `Received function ${value.name}`;
  if (typeof value === 'object') return `Received an instance of ${value.constructor?.name ?? 'Object'}`;
  return `Received type ${typeof value} (${shown(value)})`;
}

/** An argument of another type than `expected`, which says what it must be. */
export function wrongType(name: string, expected: string, value: unknown): GantryError {
  const message = `The "${name}" ${name.includes('.') ? 'property' : 'argument'} must be ${expected}. ${received(value)}`;
  return new GantryError({ code: 'ERR_INVALID_ARG_TYPE', message });
}

/** A number that is outside of `range`, which says what it must be. */
export function outOfRange(name: string, range: string, value: number | bigint): GantryError {
  const message = `The value of "${name}" is out of range. It must be ${range}. Received ${shown(value)}`;
  return new GantryError({ code: 'ERR_OUT_OF_RANGE', message });
}

/** A value that cannot be used; `problem` says why. */
export function wrongValue(name: string, problem: string, value: unknown): GantryError {
  const message = `The argument '${name}' ${problem}. Received ${shown(value)}`;
  return new GantryError({ code: 'ERR_INVALID_ARG_VALUE', message });
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'bigint' ? `${value}n` : String(value);
}
