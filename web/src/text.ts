/** Texts of files and of names, in the encodings of Node's `Buffer`, whose names are told apart without regard to case. */
import { isSignal } from './aborted.js';
import { wrongType, wrongValue } from './file-errors.js';

type Encoding =
  | 'ascii'
  | 'base64'
  | 'base64url'
  | 'binary'
  | 'hex'
  | 'latin1'
  | 'ucs-2'
  | 'ucs2'
  | 'utf-16le'
  | 'utf-8'
  | 'utf16le'
  | 'utf8';

export type TextEncoding = Encoding | Uppercase<Encoding>;

/** What `readFile` takes in an object. Files are opened for reading and nothing else. */
export interface ReadOptionsOfFiles {
  flag?: string | number | null | undefined;
  /** Ends waiting for the file; of the synchronous functions nothing waits. */
  signal?: AbortSignal | undefined;
}

/** The second parameter of `readFile`, as Node has it. `null` asks for bytes. */
export type ReadFileOptions =
  | TextEncoding
  | null
  | undefined
  | ({ encoding?: TextEncoding | null | undefined } & ReadOptionsOfFiles);

/** The second parameter of what gives names: `buffer` asks for their bytes. */
export type NameOptions =
  | TextEncoding
  | 'buffer'
  | null
  | undefined
  | { encoding?: TextEncoding | 'buffer' | null | undefined };

type Decode = (bytes: Uint8Array) => string;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const base64: Decode = (bytes) => btoa(latin1(bytes));

const decoders: Readonly<Record<Encoding, Decode>> = {
  // As Node: the highest bit is not looked at.
  ascii: (bytes) => latin1(bytes.map((byte) => byte & 0x7f)),
  base64,
  base64url: (bytes) => base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  binary: latin1,
  hex: (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  latin1,
  'ucs-2': utf16,
  ucs2: utf16,
  'utf-16le': utf16,
  'utf-8': (bytes) => utf8.decode(bytes),
  utf16le: utf16,
  utf8: (bytes) => utf8.decode(bytes),
};

/** What makes the text that options ask for; nothing where they ask for bytes. Refuses what is no encoding, as Node does. */
export function decoderOf(options: ReadFileOptions | NameOptions): Decode | undefined {
  const encoding = encodingIn(options);
  return encoding === undefined || encoding === 'buffer' ? undefined : decoderNamed(encoding);
}

/** What else `readFile` is given; refuses what is no signal, as Node does. */
export function fileOptionsIn(options: ReadFileOptions): ReadOptionsOfFiles {
  const { flag, signal } = typeof options === 'object' ? (options ?? {}) : ({} as ReadOptionsOfFiles);
  if (signal !== undefined && !isSignal(signal)) {
    throw wrongType('options.signal', 'an instance of AbortSignal', signal);
  }
  return { flag, signal };
}

/** What makes of a name the text that options ask for, or its bytes. */
export function nameEncoderOf(options: NameOptions): (name: string) => string | Uint8Array<ArrayBuffer> {
  const encoding = encodingIn(options);
  if (encoding === undefined) return (name) => name;
  const encoder = new TextEncoder();
  if (encoding === 'buffer') return (name) => encoder.encode(name);
  const decode = decoderNamed(encoding);
  return (name) => decode(encoder.encode(name));
}

function encodingIn(options: ReadFileOptions | NameOptions): string | undefined {
  if (options !== undefined && options !== null && typeof options !== 'string' && typeof options !== 'object') {
    throw wrongType('options', 'one of type string or object', options);
  }
  // As Node: an empty text is none.
  return (typeof options === 'object' ? options?.encoding : options) || undefined;
}

function decoderNamed(encoding: string): Decode {
  const name = String(encoding).toLowerCase();
  if (Object.hasOwn(decoders, name)) return decoders[name as Encoding];
  throw wrongValue('encoding', 'is invalid encoding', encoding);
}

/** Not by `TextDecoder`, for which `latin1` is another name of windows-1252. */
function latin1(bytes: Uint8Array): string {
  return fromUnits(bytes);
}

/** Not by `TextDecoder`, which puts something else in the place of surrogates that stand alone. */
function utf16(bytes: Uint8Array): string {
  const whole = bytes.length - (bytes.length % 2);
  // A copy begins where units of two bytes may.
  return fromUnits(new Uint16Array(bytes.slice(0, whole).buffer));
}

function fromUnits(units: Uint8Array | Uint16Array): string {
  const parts: string[] = [];
  // Larger ones may have more arguments than a call can take.
  for (let at = 0; at < units.length; at += 8192) parts.push(String.fromCharCode(...units.subarray(at, at + 8192)));
  return parts.join('');
}
