/**
 * Archives that pages are being given, part by part. Between two parts they need nothing of the store: what they are made of is
 * let go of when somebody else wants it, and looked up again for the next part.
 */
import { GantryError } from './errors.js';
import type { WasmArchive } from './wasm.js';

/**
 * Milliseconds after a part for which whoever asked for it is expected to ask for the next one. A stream that was dropped has no
 * end, and one that stalls may have none.
 */
const PATIENCE = 10_000;

interface OpenArchive {
  archive: WasmArchive;
  /** The part being made; it must not be interrupted. */
  part: Promise<unknown>;
  /** Whether it holds something that it is read from. */
  isAttached: boolean;
  /** When somebody last asked for a part, or was given one. */
  used: number;
}

export class Archives {
  readonly #open = new Map<number, OpenArchive>();
  #next = 1;

  /** Whether somebody is likely to ask for another part. */
  get areBeingRead(): boolean {
    return [...this.#open.values()].some(({ used }) => performance.now() - used < PATIENCE);
  }

  /** Its number. */
  begin(archive: WasmArchive): number {
    const number = this.#next++;
    this.#open.set(number, { archive, part: Promise.resolve(), isAttached: true, used: performance.now() });
    return number;
  }

  /** `attach` gives an archive that has been let go of something to be read from. */
  async part(
    number: number,
    attach: (archive: WasmArchive) => Promise<void>,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const open = this.#open.get(number);
    if (!open) throw new GantryError({ code: 'CLOSED', message: 'This archive has ended' });
    open.used = performance.now();
    const part = open.part.then(() => make(open, attach));
    open.part = part.catch(() => {});
    return part;
  }

  /** After the parts that are being made, hold nothing of the store. */
  async letGo(): Promise<void> {
    await Promise.all(
      [...this.#open.values()].map((open) => {
        open.part = open.part.then(() => {
          open.archive.letGo();
          open.isAttached = false;
        });
        return open.part;
      }),
    );
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

async function make(
  open: OpenArchive,
  attach: (archive: WasmArchive) => Promise<void>,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (!open.isAttached) {
    await attach(open.archive);
    open.isAttached = true;
  }
  try {
    return await open.archive.next();
  } finally {
    open.used = performance.now();
  }
}
