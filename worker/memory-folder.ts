/**
 * Folders of files in memory: what the module uses of `FileSystemDirectoryHandle`, of the files in it and of their access
 * handles, with the same errors. A file is open for one who writes, or for all who say that others may, as in OPFS.
 *
 * A file is a list of pieces: one that grows is never copied, and to go to another worker its pieces are transferred. A folder
 * is of one worker; who hands files over has them no more.
 */

/** Bytes of a piece, as many as the packs of a store are written at once. */
const PIECE = 1 << 20;

/** A file on its way between workers. */
export interface FileContents {
  name: string;
  size: number;
  /** To be transferred. */
  pieces: ArrayBuffer[];
}

export class MemoryFolder {
  readonly name: string;
  readonly #files = new Map<string, MemoryFile>();

  constructor(name: string) {
    this.name = name;
  }

  /** As the module takes it. */
  get handle(): FileSystemDirectoryHandle {
    return this as unknown as FileSystemDirectoryHandle;
  }

  /** Bytes of all files. */
  get size(): number {
    return [...this.#files.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async getFileHandle(name: string, { create = false }: FileSystemGetFileOptions = {}): Promise<MemoryFile> {
    const file = this.#files.get(name);
    if (file) return file;
    if (!create) throw missing(name);
    return this.#make(name);
  }

  async removeEntry(name: string): Promise<void> {
    const file = this.#files.get(name);
    if (!file) throw missing(name);
    if (file.isOpen) throw inUse(name);
    this.#files.delete(name);
  }

  async *keys(): AsyncGenerator<string> {
    yield* [...this.#files.keys()];
  }

  /** Give the contents of files away, which stay here as empty files. None may be open. */
  handOver(names: readonly string[]): FileContents[] {
    return names.map((name) => {
      const file = this.#files.get(name) ?? this.#make(name);
      return { name, ...file.handOver() };
    });
  }

  /** Give all files away. None stays: another folder may have one of them next. */
  handOverAll(): FileContents[] {
    const contents = this.handOver([...this.#files.keys()]);
    this.#files.clear();
    return contents;
  }

  /** Take contents that another worker has given away. */
  takeIn(files: readonly FileContents[]): void {
    for (const { name, ...contents } of files) (this.#files.get(name) ?? this.#make(name)).takeIn(contents);
  }

  #make(name: string): MemoryFile {
    const file = new MemoryFile(name);
    this.#files.set(name, file);
    return file;
  }
}

class MemoryFile {
  readonly #name: string;
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #size = 0;
  /** Those who have it open, each for itself or all beside others. */
  readonly #open = new Set<MemoryAccess>();
  #isShared = false;

  constructor(name: string) {
    this.#name = name;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  get size(): number {
    return this.#size;
  }

  async createSyncAccessHandle({ mode = 'readwrite' }: { mode?: string } = {}): Promise<MemoryAccess> {
    const isShared = mode === 'readwrite-unsafe';
    if (this.isOpen && !(isShared && this.#isShared)) throw inUse(this.#name);
    this.#isShared = isShared;
    const access = new MemoryAccess(this, () => this.#open.delete(access));
    this.#open.add(access);
    return access;
  }

  /** The module asks a `File` of a store that it writes for its length alone: no bytes are copied into one. */
  async getFile(): Promise<{ size: number }> {
    return { size: this.#size };
  }

  handOver(): Omit<FileContents, 'name'> {
    if (this.isOpen) throw inUse(this.#name);
    const contents = { size: this.#size, pieces: this.#pieces.map(({ buffer }) => buffer) };
    this.#pieces = [];
    this.#size = 0;
    return contents;
  }

  takeIn({ size, pieces }: Omit<FileContents, 'name'>): void {
    if (this.isOpen) throw inUse(this.#name);
    this.#pieces = pieces.map((piece) => new Uint8Array(piece));
    this.#size = size;
  }

  /** How many bytes there were to read. */
  read(buffer: Uint8Array, at: number): number {
    const length = Math.max(Math.min(buffer.length, this.#size - at), 0);
    for (const { piece, within, from, to } of partsOf(at, length)) {
      buffer.set((this.#pieces[piece] as Uint8Array).subarray(within, within + to - from), from);
    }
    return length;
  }

  write(bytes: Uint8Array, at: number): number {
    this.#grow(at + bytes.length);
    for (const { piece, within, from, to } of partsOf(at, bytes.length)) {
      (this.#pieces[piece] as Uint8Array).set(bytes.subarray(from, to), within);
    }
    return bytes.length;
  }

  truncate(size: number): void {
    this.#grow(size);
    this.#pieces.length = Math.ceil(size / PIECE);
    // What is behind the end reads as zeros should the file grow again.
    this.#pieces.at(-1)?.fill(0, size - (this.#pieces.length - 1) * PIECE);
    this.#size = size;
  }

  #grow(size: number): void {
    while (this.#pieces.length * PIECE < size) this.#pieces.push(newPiece(this.#name));
    this.#size = Math.max(this.#size, size);
  }
}

/** What the module uses of a `FileSystemSyncAccessHandle`; it always says where. */
class MemoryAccess {
  #file: MemoryFile | undefined;
  readonly #onClose: () => void;

  constructor(file: MemoryFile, onClose: () => void) {
    this.#file = file;
    this.#onClose = onClose;
  }

  read(buffer: Uint8Array, { at }: { at: number }): number {
    return this.#opened().read(buffer, at);
  }

  write(bytes: Uint8Array, { at }: { at: number }): number {
    return this.#opened().write(bytes, at);
  }

  getSize(): number {
    return this.#opened().size;
  }

  truncate(size: number): void {
    this.#opened().truncate(size);
  }

  flush(): void {
    this.#opened();
  }

  close(): void {
    this.#file = undefined;
    this.#onClose();
  }

  #opened(): MemoryFile {
    if (!this.#file) throw new DOMException('The file is closed', 'InvalidStateError');
    return this.#file;
  }
}

/** The parts of `length` bytes from `at` on that are in one piece each: where in it, and from where to where of these bytes. */
function* partsOf(at: number, length: number): Generator<{ piece: number; within: number; from: number; to: number }> {
  for (let from = 0; from < length; ) {
    const within = (at + from) % PIECE;
    const to = Math.min(from + PIECE - within, length);
    yield { piece: Math.floor((at + from) / PIECE), within, from, to };
    from = to;
  }
}

function newPiece(name: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(PIECE);
  } catch {
    // Each browser has an error of its own for it, and for the module it is what a full disk is.
    throw new DOMException(`There is no memory left for ${name}`, 'QuotaExceededError');
  }
}

const missing = (name: string) => new DOMException(`${name} is not there`, 'NotFoundError');
const inUse = (name: string) => new DOMException(`${name} is in use`, 'NoModificationAllowedError');
