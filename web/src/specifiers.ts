/** What a resolver is asked, as `enhanced-resolve` takes it, and what it answers, as paths are. */
import { invalid, shown } from './options.js';
import { pathText } from './path-like.js';

/**
 * A specifier in two parts. What begins with a question mark is for whoever loads the file, of packages as of files: `exports`
 * have no entry for it.
 */
export interface Request {
  specifier: string;
  query: string;
}

/** Before a `#` that belongs to a path, so that it begins no fragment. */
const ESCAPED = '\0#';

/** Fails with `INVALID_OPTION` where it is neither a text nor a `file:` address. */
export function requestOf(specifier: unknown): Request {
  const address = addressIn(specifier);
  if (address) {
    return { specifier: pathText(address).replaceAll('#', ESCAPED), query: `${address.search}${address.hash}` };
  }
  if (typeof specifier !== 'string') throw invalid(`specifier: ${shown(specifier)} is neither a text nor an address`);
  const query = specifier.indexOf('?');
  if (query === -1) return { specifier, query: '' };
  return { specifier: specifier.slice(0, query), query: specifier.slice(query) };
}

/** The folder of a module, from the root. Fails with `INVALID_OPTION` where it is neither a text nor a `file:` address. */
export function folderOf(importer: unknown): string {
  const address = addressIn(importer);
  if (!address && typeof importer !== 'string') {
    throw invalid(`importer: ${shown(importer)} is neither a path nor an address`);
  }
  // Of a path what follows a question mark is a query, as a result may have it; a `#` may be part of a name.
  const text = address ? pathText(address) : (importer as string).replace(/\?.*$/s, '');
  const path = text.startsWith('/') ? text : `/${text}`;
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

export function unescaped(text: string): string {
  return text.replaceAll(ESCAPED, '#');
}

/** Not by its class: another frame's addresses are addresses. */
function addressIn(value: unknown): URL | undefined {
  if (typeof value === 'object' && value !== null && 'href' in value) return new URL(String(value.href));
  return typeof value === 'string' && /^file:/i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
}
