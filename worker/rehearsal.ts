/**
 * An install that is of no use but that the browser compiles what it takes: from a registry that this worker plays itself, into a
 * store in memory. Nothing of it leaves the worker, or is left in it.
 */
import { Coordinator, type PoolPort, rehearseRegistry, Unpacker, type WasmUnpacker } from '../wasm.js';

/** A page that installs as soon as it can needs all cores for that. */
const RESPITE_MILLISECONDS = 30;
/** Nobody has such a name. */
const REGISTRY = 'https://rehearsal.invalid/';

const manifest = JSON.stringify({
  name: 'rehearsal',
  version: '1.0.0',
  license: 'MIT',
  dependencies: { a: '^1.0.0', b: '~1.1.0' },
  devDependencies: { c: '1.0.0 || >=1.1.0 <2' },
  optionalDependencies: { a: '^1.0.0' },
});

/** Installs from a manifest, then from the lock of that. Rejects where an install would, and soon after `signal` is aborted. */
export async function rehearseInstalling(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, RESPITE_MILLISECONDS));
  signal.throwIfAborted();
  rehearseRegistry(REGISTRY);
  const folder = new MemoryDirectory(signal) as unknown as FileSystemDirectoryHandle;
  const pool = new SinglePool(folder);
  const coordinator = await Coordinator.open({ registry: REGISTRY, fetchRetries: 0 }, pool, folder);
  const install = (lockfile?: string) =>
    coordinator.install({ packageJson: manifest, ...(lockfile && { lockfile, frozen: true }) }, () => {}, signal);
  const { name, lockfile } = await install();
  await coordinator.readFile(name, 'node_modules/a/package.json');
  await coordinator.clear();
  await install(lockfile);
  await coordinator.close();
}

/** A pool of this worker alone. */
class SinglePool implements PoolPort {
  readonly size = 1;
  readonly #folder: FileSystemDirectoryHandle;
  #unpacker: WasmUnpacker | undefined;

  constructor(folder: FileSystemDirectoryHandle) {
    this.#folder = folder;
  }

  async open([packs]: [string]): Promise<void> {
    this.#unpacker = await Unpacker.open({ packs, successor: false, room: 1 << 20 }, this.#folder);
  }

  async unpack(text: string, _: number, body: Uint8Array | undefined): Promise<unknown> {
    return this.#unpacker?.unpack(text, body);
  }

  async read(_: number, pack: number, offset: number, length: number): Promise<Uint8Array | undefined> {
    return this.#unpacker?.read(pack, offset, length);
  }

  async flush(): Promise<void> {
    this.#unpacker?.flush();
  }

  async close(): Promise<void> {
    this.#unpacker?.close();
    this.#unpacker = undefined;
  }
}

/** What the module uses of a `FileSystemDirectoryHandle`. */
class MemoryDirectory {
  readonly name = 'rehearsal';
  readonly #files = new Map<string, MemoryFile>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async getFileHandle(name: string, options?: FileSystemGetFileOptions): Promise<MemoryFile> {
    await tasks();
    this.#signal.throwIfAborted();
    const file = this.#files.get(name) ?? (options?.create ? new MemoryFile() : undefined);
    if (!file) throw missing(name);
    this.#files.set(name, file);
    return file;
  }

  async removeEntry(name: string): Promise<void> {
    if (!this.#files.delete(name)) throw missing(name);
  }

  async *keys(): AsyncGenerator<string> {
    yield* this.#files.keys();
  }
}

/** What the module uses of a `FileSystemFileHandle`, and of the access handle to it. */
class MemoryFile {
  #bytes = new Uint8Array();

  async createSyncAccessHandle(): Promise<this> {
    return this;
  }

  async getFile(): Promise<File> {
    return new File([this.#bytes], '');
  }

  getSize(): number {
    return this.#bytes.length;
  }

  read(buffer: Uint8Array, { at = 0 }: FileSystemReadWriteOptions = {}): number {
    const part = this.#bytes.subarray(at, at + buffer.length);
    buffer.set(part);
    return part.length;
  }

  write(bytes: Uint8Array, { at = 0 }: FileSystemReadWriteOptions = {}): number {
    if (at + bytes.length > this.#bytes.length) this.truncate(at + bytes.length);
    this.#bytes.set(bytes, at);
    return bytes.length;
  }

  truncate(length: number): void {
    const bytes = new Uint8Array(length);
    bytes.set(this.#bytes.subarray(0, length));
    this.#bytes = bytes;
  }

  flush(): void {}

  close(): void {}
}

/** Resolves when what else there is to do has had its turn. */
function tasks(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

const missing = (name: string) => new DOMException(`${name} is not there`, 'NotFoundError');
