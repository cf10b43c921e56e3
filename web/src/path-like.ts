/** What Node takes for a path: a text, a `file:` address, the bytes of a text. */
import { GantryError } from './errors.js';
import { fileSystemError, wrongType, wrongValue } from './file-errors.js';
import { fromRoot } from './paths.js';

/** A path, as Node's functions take it; a `Buffer` is an `Uint8Array`. */
export type PathLike = string | URL | Uint8Array;

/** A path in two forms. */
export interface GivenPath {
  /** As it was given: what errors name. */
  given: string;
  /** From the root: what a tree is asked. */
  path: string;
}

/** What a call that Node names `syscall` is to ask the tree; throws what Node does where that is no path. */
export function pathOf(syscall: string, path: PathLike): GivenPath {
  const given = pathText(path);
  if (given === '') throw fileSystemError('ENOENT', syscall, given);
  return { given, path: fromRoot(given) };
}

/** The text of a path. */
export function pathText(path: PathLike): string {
  const text = typeof path === 'string' ? path : textOf(path);
  if (text.includes('\0')) {
    throw wrongValue('path', 'must be a string, Uint8Array, or URL without null bytes', text);
  }
  return text;
}

function textOf(path: Exclude<PathLike, string>): string {
  if (ArrayBuffer.isView(path)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(path);
  // Not by its class: another frame's addresses are addresses.
  if (typeof path === 'object' && path !== null && 'href' in path && 'pathname' in path) return textOfAddress(path);
  throw wrongType('path', 'of type string or an instance of Buffer or URL', path);
}

/** As Node's `fileURLToPath` on Linux. */
function textOfAddress({ protocol, hostname, pathname }: URL): string {
  const refused = (code: 'ERR_INVALID_FILE_URL_HOST' | 'ERR_INVALID_FILE_URL_PATH' | 'ERR_INVALID_URL_SCHEME') => {
    return (message: string) => new GantryError({ code, message });
  };
  if (protocol !== 'file:') throw refused('ERR_INVALID_URL_SCHEME')('The URL must be of scheme file');
  if (hostname !== '')
    throw refused('ERR_INVALID_FILE_URL_HOST')('File URL host must be "localhost" or empty on linux');
  if (/%2f/i.test(pathname)) {
    throw refused('ERR_INVALID_FILE_URL_PATH')('File URL path must not include encoded / characters');
  }
  try {
    return decodeURIComponent(pathname);
  } catch {
    throw refused('ERR_INVALID_FILE_URL_PATH')(`File URL path is not encoded: ${pathname}`);
  }
}
