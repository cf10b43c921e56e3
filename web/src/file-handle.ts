/**
 * An open file, for reading parts of it. It stays the file that was opened, whatever is installed at its path meanwhile.
 */
import { nextDescriptor } from './descriptors.js';
import { type BigIntStats, type StatOptions, type Stats, statsOf } from './entries.js';
import { abortError, fileSystemError, invalidState, wrongType } from './file-errors.js';
import { type Opened, partOf, statusOf } from './opened.js';
import {
  capacityOf,
  checkBuffers,
  checkRead,
  type OffsetOrOptions,
  type ReadOptions,
  readOptions,
  scatter,
  startOf,
} from './read-arguments.js';
import { type HandleWrites, handleWrites } from './read-only.js';
import { decoderOf, fileOptionsIn, type ReadFileOptions, type ReadOptionsOfFiles, type TextEncoding } from './text.js';
import type { Tree } from './tree.js';
import { unlessAborted } from './unless-aborted.js';

/** What a stream gives at once, unless the file is shorter. */
const PART = 1 << 20;

/** Size of the buffer of a read that brings none, as in Node. */
const BUFFER = 16 * 1024;

/** Where Node ends a line. */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/;

export interface ReadResult<Buffer extends ArrayBufferView> {
  /** 0 at the end of the file. */
  bytesRead: number;
  buffer: Buffer;
}

export interface LinesOptions {
  encoding?: TextEncoding;
  /** The first byte; where reading has come to unless given. */
  start?: number;
  /** The last byte. */
  end?: number;
  /** Unless `false`, the file is closed after the last line. */
  autoClose?: boolean;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns what the interface adds
export class FileHandle {
  readonly #tree: Pick<Tree, 'readRanges'>;
  readonly #opened: Opened;
  readonly #descriptor = nextDescriptor();
  /** Where a read begins that names no position. */
  #position = 0;
  #closed = false;
  #hasStream = false;

  /** @internal */
  constructor(tree: Pick<Tree, 'readRanges'>, opened: Opened) {
    this.#tree = tree;
    this.#opened = opened;
    Object.assign(
      this,
      handleWrites((call) => this.#check(call)),
    );
  }

  /** A number that no other open file has, for telling them apart; -1 once it is closed. */
  get fd(): number {
    return this.#closed ? -1 : this.#descriptor;
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

  /** Read into one buffer after the other, from `position` in the file or from where the last read without one ended. */
  async readv<Buffers extends readonly ArrayBufferView[]>(
    buffers: Buffers,
    position?: number | null,
  ): Promise<{ bytesRead: number; buffers: Buffers }> {
    this.#check('readv');
    checkBuffers(buffers);
    const at = startOf(position);
    const length = capacityOf(buffers);
    const bytes = await (at === undefined ? this.#next(length) : this.#part(at, length));
    scatter(bytes, buffers);
    return { bytesRead: bytes.length, buffers };
  }

  stat(options?: (StatOptions & { bigint?: false }) | null): Promise<Stats>;
  stat(options: { bigint: true }): Promise<BigIntStats>;
  stat(options?: StatOptions | null): Promise<Stats | BigIntStats>;
  async stat(options?: StatOptions | null): Promise<Stats | BigIntStats> {
    this.#check('fstat');
    return statsOf(statusOf(this.#opened), options);
  }

  /** The file from where reading without a position has come to: all of it, of a handle that was just opened. */
  readFile(
    options?: null | ({ encoding?: null } & Pick<ReadOptionsOfFiles, 'signal'>),
  ): Promise<Uint8Array<ArrayBuffer>>;
  readFile(options: TextEncoding | ({ encoding: TextEncoding } & Pick<ReadOptionsOfFiles, 'signal'>)): Promise<string>;
  readFile(options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer> | string>;
  async readFile(options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer> | string> {
    const decode = decoderOf(options);
    const { signal } = fileOptionsIn(options);
    this.#check('readFile');
    const bytes = await unlessAborted(signal, abortError, () => this.#next(Number.POSITIVE_INFINITY));
    return decode ? decode(bytes) : bytes;
  }

  /** The lines of a text, one after the other. They are read at once. */
  async *readLines(options?: LinesOptions | null): AsyncGenerator<string, void> {
    const { encoding = 'utf8', start, end = Number.POSITIVE_INFINITY, autoClose = true } = options ?? {};
    try {
      const decode = decoderOf(encoding) as (bytes: Uint8Array) => string;
      const length = Math.max(0, end + 1 - (start ?? this.#position));
      const bytes = await (start === undefined ? this.#next(length) : this.#part(start, length));
      const lines = decode(bytes).split(LINE_END);
      // What ends the last line begins none.
      if (lines.at(-1) === '') lines.pop();
      yield* lines;
    } finally {
      if (autoClose) await this.close();
    }
  }

  /** The file from where reading has come to, in parts as they are asked for. There is one stream of a handle, as in Node. */
  readableWebStream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    if (this.#closed) throw invalidState('The FileHandle is closed');
    if (this.#hasStream) throw invalidState('The FileHandle is locked');
    this.#hasStream = true;
    return new ReadableStream(
      {
        pull: async (controller) => {
          const bytes = await this.#next(PART);
          if (bytes.length > 0) controller.enqueue(bytes);
          else controller.close();
        },
      },
      // Nothing is read before it is asked for: other reads go on from there.
      { highWaterMark: 0 },
    );
  }

  /** There is nothing to be written. */
  async sync(): Promise<void> {
    this.#check('fsync');
  }

  async datasync(): Promise<void> {
    this.#check('fdatasync');
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** At most `length` bytes from `position`. @internal */
  part(position: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#part(position, length);
  }

  /** Reads that follow each other without waiting are given one part after the other. */
  #next(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const position = this.#position;
    if (!('kind' in this.#opened)) this.#position += partOf(this.#opened, position, length).size;
    return this.#part(position, length);
  }

  async #part(position: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    this.#check('read');
    const { file, size } = partOf(this.#opened, position, length);
    if (file === undefined || size === 0) return new Uint8Array();
    if ('bytes' in file) return file.bytes.slice(position, position + size);
    const { key, offset } = file;
    const [bytes] = await this.#tree.readRanges({ keys: [key], offsets: [offset + position], sizes: [size] });
    return bytes as Uint8Array<ArrayBuffer>;
  }

  #check(call: string): void {
    if (this.#closed) throw fileSystemError('EBADF', call);
  }
}

/** What would write is put on each object when it is made. */
export interface FileHandle extends HandleWrites {
  /** As {@link FileHandle.close}, for `await using`, in browsers that have it. */
  [Symbol.asyncDispose](): Promise<void>;
}

if (Symbol.asyncDispose) {
  Object.defineProperty(FileHandle.prototype, Symbol.asyncDispose, {
    value(this: FileHandle) {
      return this.close();
    },
  });
}

declare global {
  // As the library of TypeScript has it, for those who do not use that part of it.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}
