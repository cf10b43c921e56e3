/** Archives that pages are being given, part by part. */
import { GantryError } from '../errors.js';
import type { WasmArchive } from '../wasm.js';

interface OpenArchive {
  archive: WasmArchive;
  /** The part being made; it must not be interrupted. */
  part: Promise<unknown>;
}

export class Archives {
  readonly #open = new Map<number, OpenArchive>();
  #next = 1;

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Its number. */
  begin(archive: WasmArchive): number {
    const number = this.#next++;
    this.#open.set(number, { archive, part: Promise.resolve() });
    return number;
  }

  async part(number: number): Promise<Uint8Array | undefined> {
    const open = this.#open.get(number);
    if (!open) throw new GantryError({ code: 'CLOSED', message: 'This archive has ended' });
    const part = open.part.then(() => open.archive.next());
    open.part = part.catch(() => {});
    return part;
  }

  async end(number: number): Promise<undefined> {
    const open = this.#open.get(number);
    this.#open.delete(number);
    await open?.part;
    open?.archive.free();
  }

  /** After the parts that are being made; whoever wants another hears that the archive has ended. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((number) => this.end(number)));
  }
}
