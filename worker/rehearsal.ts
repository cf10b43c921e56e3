/**
 * An install that is of no use but that the browser compiles what it takes: from a registry that this worker plays itself, into a
 * store in memory. Nothing of it leaves the worker, or is left in it.
 */
import { Coordinator, type PoolPort, rehearseRegistry, Unpacker, type WasmUnpacker } from '../wasm.js';
import { MemoryFolder } from './memory-folder.js';

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
  const folder = new YieldingFolder(signal).handle;
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

  async read(_: number, pack: number, offset: number, length: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
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

/** Lets other things have their turn before each file, and ends the install when there is something to do. */
class YieldingFolder extends MemoryFolder {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    super('rehearsal');
    this.#signal = signal;
  }

  override async getFileHandle(...rest: Parameters<MemoryFolder['getFileHandle']>) {
    await tasks();
    this.#signal.throwIfAborted();
    return super.getFileHandle(...rest);
  }
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
