/**
 * What Node's functions that read into a buffer take: `(buffer, offset, length, position)`, or a buffer and an object with
 * the rest, or, where a handle reads, that object alone.
 */
import { fileSystemError, outOfRange, wrongType, wrongValue } from './file-errors.js';

/** Where bytes go and where they come from. */
export interface ReadOptions {
  /** Where in the buffer the first byte goes; its start unless given. */
  offset?: number | null | undefined;
  /** How many bytes at most; as many as fit unless given. */
  length?: number | null | undefined;
  /** Where in the file reading begins; where the last read without one ended, unless given, and for `null` and -1. */
  position?: number | bigint | null | undefined;
}

/** A read whose arguments have been looked at. */
export interface CheckedRead {
  /** The part of the buffer that is read into. */
  target: Uint8Array;
  /** Missing where reading goes on from where it was. */
  position: number | undefined;
}

/** What {@link ReadOptions} come as: an object, or the first of several arguments. */
export type OffsetOrOptions = number | ReadOptions | null | undefined;

/** The arguments after the buffer, in whichever form, as one object. */
export function readOptions(
  offset: OffsetOrOptions,
  length: number | null | undefined,
  position: number | bigint | null | undefined,
): ReadOptions {
  return typeof offset === 'object' && offset !== null ? offset : { offset, length, position };
}

/** Refuses, as Node does, what cannot be read into or from. */
export function checkRead(buffer: ArrayBufferView, options: ReadOptions): CheckedRead {
  if (!ArrayBuffer.isView(buffer)) {
    throw wrongType('buffer', 'an instance of Buffer, TypedArray, or DataView', buffer);
  }
  const { byteLength } = buffer;
  const offset = options.offset ?? 0;
  checkInteger('offset', offset, 0);
  const length = options.length ?? byteLength - offset;
  const target = (size: number) => new Uint8Array(buffer.buffer, buffer.byteOffset + (size && offset), size);
  // Before everything else is looked at, as in Node.
  if (length === 0) return { target: target(0), position: undefined };
  if (byteLength === 0) throw wrongValue('buffer', 'is empty and cannot be written', buffer);
  checkInteger('length', length, 0);
  if (length > byteLength - offset) throw outOfRange('length', `<= ${byteLength - offset}`, length);
  return { target: target(length), position: checkedPosition(options.position ?? -1) };
}

/** Refuses, as Node does, what cannot be read into one after the other. */
export function checkBuffers(buffers: readonly ArrayBufferView[]): void {
  if (!Array.isArray(buffers) || !buffers.every(ArrayBuffer.isView)) {
    throw wrongType('buffers', 'an ArrayBufferView[]', buffers);
  }
  if (buffers.length === 0) throw fileSystemError('EINVAL', 'read');
}

/** Copies into one buffer after the other. */
export function scatter(bytes: Uint8Array, buffers: readonly ArrayBufferView[]): void {
  let from = 0;
  for (const { buffer, byteOffset, byteLength } of buffers) {
    const part = bytes.subarray(from, from + byteLength);
    new Uint8Array(buffer, byteOffset, part.length).set(part);
    from += part.length;
  }
}

/** How many bytes fit. */
export function capacityOf(buffers: readonly ArrayBufferView[]): number {
  return buffers.reduce((total, { byteLength }) => total + byteLength, 0);
}

/** Where `readv` begins, of which Node takes a number and nothing else; elsewhere it goes on from where it was. */
export function startOf(position: number | null | undefined): number | undefined {
  return typeof position === 'number' && Number.isSafeInteger(position) && position >= 0 ? position : undefined;
}

function checkedPosition(position: number | bigint): number | undefined {
  if (typeof position === 'bigint') {
    if (position < -1n) throw outOfRange('position', '>= -1', position);
  } else if (typeof position === 'number') checkInteger('position', position, -1);
  else throw wrongType('position', 'of type bigint or integer', position);
  // What no number can name is beyond the end of any file, as is the number that comes out.
  return position < 0 ? undefined : Number(position);
}

function checkInteger(name: string, value: number, least: number): void {
  if (typeof value !== 'number') throw wrongType(name, 'of type number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < least || value > Number.MAX_SAFE_INTEGER) throw outOfRange(name, `>= ${least}`, value);
}
