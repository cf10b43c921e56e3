/** A `package.json` as a page has it: its text, the bytes of that, or the object that it holds. */
import { invalid, shown } from './options.js';
import { isModule, isPlainObject } from './plain-object.js';

/**
 * What a `package.json` holds. Interfaces will do; a promise that nobody has waited for, a `Blob`, a list or a `Map` will not:
 * as JSON each of them is an empty object, which asks for an empty tree.
 */
export type ManifestObject = ({ readonly [name: string]: unknown } | object) & {
  then?: never;
  arrayBuffer?: never;
  forEach?: never;
};

/** Text of a `package.json`, UTF-8 of it, or the object that it holds. */
export type PackageJson = string | Uint8Array | ArrayBuffer | ManifestObject;

const HINT = 'Give the text of a package.json, its bytes, or the plain object that it holds.';

export function packageJsonText(packageJson: unknown): string {
  if (typeof packageJson === 'string') return packageJson;
  const bytes = bytesIn(packageJson);
  // A copy: what is shared with other threads is not decoded.
  if (bytes) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.slice());
  if (isPlainObject(packageJson)) return asJson(packageJson);
  throw invalid(`packageJson: ${shown(packageJson)} is no package.json`, hintFor(packageJson));
}

function bytesIn(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  // Not by its class: another frame's buffers are buffers.
  const isBuffer = /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value));
  return isBuffer ? new Uint8Array(value as ArrayBuffer) : undefined;
}

function asJson(packageJson: object): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(packageJson, undefined, 2);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return text;
  const reason = cause instanceof Error ? cause.message : 'it has nothing that JSON can say';
  throw invalid(`packageJson is no JSON: ${reason}`, undefined, cause);
}

function hintFor(value: unknown): string {
  if (typeof value !== 'object' || value === null) return HINT;
  if (isModule(value)) return `It is a module: its .default may be what is meant. ${HINT}`;
  return 'then' in value ? `It is a promise: is an await missing? ${HINT}` : HINT;
}
