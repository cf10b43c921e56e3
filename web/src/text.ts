/** Encodings of `readFile`. */
import { GantryError } from './errors.js';

export type TextEncoding = 'utf8' | 'utf-8' | 'latin1' | 'binary' | 'base64' | 'hex';

/** The second parameter of `readFile`, as Node has it. `null` asks for bytes. */
export type ReadFileOptions = TextEncoding | null | undefined | { encoding?: TextEncoding | null | undefined };

/** The encoding that options ask for; nothing for bytes. Refuses one that is not there. */
export function encodingOf(options: ReadFileOptions): TextEncoding | undefined {
  const encoding = (typeof options === 'object' ? options?.encoding : options) ?? undefined;
  if (encoding === undefined || encoding in decoders) return encoding;
  throw new GantryError({ code: 'INVALID_OPTION', message: `Not an encoding that can be read: ${encoding}` });
}

export function decode(bytes: Uint8Array, encoding: TextEncoding): string {
  return decoders[encoding](bytes);
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const decoders: Record<TextEncoding, (bytes: Uint8Array) => string> = {
  utf8: (bytes) => utf8.decode(bytes),
  'utf-8': (bytes) => utf8.decode(bytes),
  latin1,
  binary: latin1,
  base64: (bytes) => btoa(latin1(bytes)),
  hex: (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
};

/** Not by `TextDecoder`, for which `latin1` is another name of windows-1252. */
function latin1(bytes: Uint8Array): string {
  const parts: string[] = [];
  // Larger ones may have more arguments than a call can take.
  for (let at = 0; at < bytes.length; at += 8192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return parts.join('');
}
