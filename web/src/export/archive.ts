/**
 * A tree as an archive, made in the worker that has the store while it is read. Other tabs install meanwhile. As long as it is
 * read nobody else removes the packages that it is made of; when it is read on after ten seconds or more, and they are gone, it
 * fails with `STORE_LOST`.
 */
import type { ArchiveFormat } from '../protocol.js';
import { type Exportable, TREE } from '../tree.js';

export interface StreamOptions {
  /** Ends the stream with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * A tar archive, not compressed: files with their modes, and links, sorted by path. Equal trees give equal bytes. For
 * `.tar.gz`, pipe it through a `CompressionStream('gzip')`.
 */
export function toTar(project: Exportable, options?: StreamOptions): ReadableStream<Uint8Array> {
  return stream(project, 'tar', options);
}

/** A zip archive, deflated: modes and links are kept for tools of Unix; others see a link as a file with its target. */
export function toZip(project: Exportable, options?: StreamOptions): ReadableStream<Uint8Array> {
  return stream(project, 'zip', options);
}

function stream(
  project: Exportable,
  format: ArchiveFormat,
  { signal }: StreamOptions = {},
): ReadableStream<Uint8Array> {
  // Now, not when it is first read: the tree may be another one then.
  const archive = project[TREE].archive(format);
  // Told by `pull`.
  archive.catch(() => {});
  const ended = new AbortController();
  const end = async () => {
    ended.abort();
    await (await archive).end();
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        // Whoever does not read on asks for no part that could be refused, and the worker has the archive open.
        const giveUp = () => {
          controller.error(signal?.reason);
          end().catch(() => {});
        };
        signal?.addEventListener('abort', giveUp, { signal: ended.signal });
      },
      pull: async (controller) => {
        try {
          signal?.throwIfAborted();
          const part = await (await archive).next();
          if (part) {
            controller.enqueue(part);
            return;
          }
        } catch (error) {
          await end().catch(() => {});
          throw error;
        }
        await end();
        controller.close();
      },
      cancel: end,
    },
    // One part ahead of who reads.
    { highWaterMark: 1 },
  );
}
