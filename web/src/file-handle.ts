/**
 * An open file, for reading parts of it. It stays the file that was opened, whatever is installed at its path meanwhile.
 */
import { Stats } from './entries.js';
import { fileSystemError, wrongType } from './file-errors.js';
import type { FileLocation } from './protocol.js';
import { checkRead, type OffsetOrOptions, type ReadOptions, readOptions } from './read-arguments.js';
import { decoderOf, type ReadFileOptions, type TextEncoding } from './text.js';
import type { Tree } from './tree.js';

/** What a stream gives at once, unless the file is shorter. */
const PART = 1 << 20;

/** Size of the buffer of a read that brings none, as in Node. */
const BUFFER = 16 * 1024;

export interface ReadResult<Buffer extends ArrayBufferView> {
  /** 0 at the end of the file. */
  bytesRead: number;
  buffer: Buffer;
}

export class FileHandle {
  readonly #tree: Pick<Tree, 'readRanges'>;
  readonly #file: FileLocation;
  /** Where a read begins that names no position. */
  #position = 0;
  #closed = false;

  /** @internal */
  constructor(tree: Pick<Tree, 'readRanges'>, file: FileLocation) {
    this.#tree = tree;
    this.#file = file;
  }

  /**
   * Read into `buffer` at `offset`, at most `length` bytes, from `position` in the file, or from where the last read without
   * one ended. What comes after the buffer may be one object; without a buffer there is a new one.
   */
  read<Buffer extends ArrayBufferView>(buffer: Buffer, options?: ReadOptions | null): Promise<ReadResult<Buffer>>;
  read<Buffer extends ArrayBufferView>(
    buffer: Buffer,
    offset?: number | null,
    length?: number | null,
    position?: number | bigint | null,
  ): Promise<ReadResult<Buffer>>;
  read<Buffer extends ArrayBufferView = Uint8Array<ArrayBuffer>>(
    options?: (ReadOptions & { buffer?: Buffer }) | null,
  ): Promise<ReadResult<Buffer>>;
  async read(
    first?: ArrayBufferView | (ReadOptions & { buffer?: ArrayBufferView }) | null,
    offset?: OffsetOrOptions,
    length?: number | null,
    position?: number | bigint | null,
  ): Promise<ReadResult<ArrayBufferView>> {
    this.#check('read');
    const given = first ?? {};
    if (typeof given !== 'object') throw wrongType('options', 'of type object', given);
    const { buffer, options } = ArrayBuffer.isView(given)
      ? { buffer: given, options: readOptions(offset, length, position) }
      : { buffer: given.buffer ?? new Uint8Array(BUFFER), options: given };
    const { target, position: at } = checkRead(buffer, options);
    const bytes = await (at === undefined ? this.#next(target.length) : this.#part(at, target.length));
    target.set(bytes);
    return { bytesRead: bytes.length, buffer };
  }

  async stat(): Promise<Stats> {
    this.#check('fstat');
    return new Stats({ kind: 'file', size: this.#file.size, mode: this.#file.mode });
  }

  /** The file from where reading without a position has come to: all of it, of a handle that was just opened. */
  readFile(): Promise<Uint8Array>;
  readFile(options: TextEncoding | { encoding: TextEncoding }): Promise<string>;
  readFile(options?: ReadFileOptions): Promise<Uint8Array | string>;
  async readFile(options?: ReadFileOptions): Promise<Uint8Array | string> {
    const decode = decoderOf(options);
    const bytes = await this.#next(this.#file.size);
    return decode ? decode(bytes) : bytes;
  }

  /** The file from its start, in parts as they are asked for. */
  readableWebStream(): ReadableStream<Uint8Array> {
    let position = 0;
    return new ReadableStream({
      pull: async (controller) => {
        const bytes = await this.#part(position, PART);
        position += bytes.length;
        if (bytes.length > 0) controller.enqueue(bytes);
        if (position >= this.#file.size) controller.close();
      },
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** Reads that follow each other without waiting are given one part after the other. */
  #next(length: number): Promise<Uint8Array> {
    const position = this.#position;
    this.#position += Math.min(length, Math.max(0, this.#file.size - position));
    return this.#part(position, length);
  }

  async #part(position: number, length: number): Promise<Uint8Array> {
    this.#check('read');
    const size = Math.min(length, Math.max(0, this.#file.size - position));
    if (size === 0) return new Uint8Array();
    if ('bytes' in this.#file) return this.#file.bytes.slice(position, position + size);
    const { key, offset } = this.#file;
    const [bytes] = await this.#tree.readRanges({ keys: [key], offsets: [offset + position], sizes: [size] });
    return bytes as Uint8Array;
  }

  #check(call: string): void {
    if (this.#closed) throw fileSystemError('EBADF', call);
  }
}
