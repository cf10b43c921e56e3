/**
 * A tree as an archive, made in the worker that has the store while it is read. Other tabs install meanwhile. As long as it is
 * read nobody else removes the packages that it is made of; when it is read on after ten seconds or more, and they are gone, it
 * fails with `STORE_LOST`. One whose stream is dropped ends when the browser collects that.
 */
import type { ArchiveFormat } from '../protocol.js';
import { type ArchiveParts, type Exportable, TREE } from '../tree.js';
import { checkStream, type StreamOptions } from './options.js';

/**
 * A tar archive, not compressed: files with their modes, and links, sorted by path. Equal trees give equal bytes. For
 * `.tar.gz`, pipe it through a `CompressionStream('gzip')`.
 */
export function toTar(project: Exportable, options: StreamOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
  checkStream('toTar', project, options);
  return stream(project, 'tar', options);
}

/** A zip archive, deflated: modes and links are kept for tools of Unix; others see a link as a file with its target. */
export function toZip(project: Exportable, options: StreamOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
  checkStream('toZip', project, options);
  return stream(project, 'zip', options);
}

function stream(
  project: Exportable,
  format: ArchiveFormat,
  { signal }: StreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  // Now, not when it is first read: the tree may be another one then.
  const ending = new Ending(project[TREE].archive(format));
  const source = new ArchiveSource(ending, signal);
  // Not the stream: browsers forget that object while something reads on what it stands for.
  dropped.register(source, ending, ending);
  if (signal) endBy(signal, new WeakRef(source), ending);
  // One part ahead of who reads.
  return new ReadableStream<Uint8Array<ArrayBuffer>>(source, { highWaterMark: 1 });
}

/** Ends what nobody can read any more: the worker has a list of all that is in it. */
const dropped = new FinalizationRegistry<Ending>((ending) => void ending.end().catch(() => {}));

/** Whoever does not read on asks for no part that could be refused, and the worker has the archive open. */
function endBy(signal: AbortSignal, source: WeakRef<ArchiveSource>, ending: Ending): void {
  // A signal may outlive the stream, and must not keep it.
  const giveUp = () => {
    source.deref()?.fail(signal.reason);
    ending.end().catch(() => {});
  };
  signal.addEventListener('abort', giveUp, { signal: ending.signal });
}

/** An archive that ends once, by whoever comes first. It knows nothing of who reads it. */
class Ending {
  readonly archive: Promise<ArchiveParts>;
  readonly #ended = new AbortController();

  constructor(archive: Promise<ArchiveParts>) {
    this.archive = archive;
    // Told by `pull`.
    archive.catch(() => {});
  }

  /** Fires when it ends. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  async end(): Promise<void> {
    dropped.unregister(this);
    this.#ended.abort();
    await (await this.archive).end();
  }
}

/** What a stream gets its parts from. It is there as long as the stream can be read, whoever does. */
class ArchiveSource implements UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> {
  readonly #ending: Ending;
  readonly #signal: AbortSignal | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;

  constructor(ending: Ending, signal: AbortSignal | undefined) {
    this.#ending = ending;
    this.#signal = signal;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    this.#controller = controller;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    try {
      this.#signal?.throwIfAborted();
      const part = await (await this.#ending.archive).next();
      if (part) {
        controller.enqueue(part);
        return;
      }
    } catch (error) {
      await this.#ending.end().catch(() => {});
      throw error;
    }
    await this.#ending.end();
    controller.close();
  }

  cancel(): Promise<void> {
    return this.#ending.end();
  }

  fail(reason: unknown): void {
    this.#controller?.error(reason);
  }
}
