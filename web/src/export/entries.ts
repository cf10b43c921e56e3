/** What every exporter begins with: the files and links of a tree, and their contents in batches. */
import { throwIfAborted } from '../aborted.js';
import type { TreeListing } from '../protocol.js';
import type { Tree } from '../tree.js';

/** Files in one batch, and bytes, unless one file has more: large enough that a message for each costs little. */
const BATCH_FILES = 256;
const BATCH_BYTES = 4 << 20;

export interface FileEntry {
  kind: 'file';
  /** Without a slash before it. */
  path: string;
  executable: boolean;
  size: number;
  /** Where it is in its package; or its bytes. */
  source: { key: string; offset: number } | Uint8Array;
}

export interface LinkEntry {
  kind: 'symlink';
  path: string;
  /** Relative to the folder that the link is in. */
  target: string;
}

export type Entry = FileEntry | LinkEntry;

const EXECUTABLE = 1;
const LINK = 2;
const MADE = 3;

/** The entries of a listing, sorted by path. */
export function entriesOf(listing: TreeListing): Entry[] {
  const split = (text: string) => (text === '' ? [] : text.split('\0'));
  const keys = split(listing.keys);
  const targets = split(listing.targets).values();
  const made = listing.made.values();
  return split(listing.paths).map((path, index): Entry => {
    const kind = listing.kinds[index];
    if (kind === LINK) return { kind: 'symlink', path, target: targets.next().value as string };
    const size = listing.sizes[index] as number;
    const source =
      kind === MADE
        ? (made.next().value as Uint8Array)
        : { key: keys[listing.packages[index] as number] as string, offset: listing.offsets[index] as number };
    return { kind: 'file', path, executable: kind === EXECUTABLE, size, source };
  });
}

/** The folders `node_modules` that are in no other one: all that a tree is in. */
export function moduleFolders(entries: readonly Entry[]): string[] {
  const folders = entries.map(({ path }) => /^(?:.*?\/)?node_modules(?=\/)/.exec(path)?.[0]);
  // Also where the tree is empty and an earlier one was not.
  return [...new Set(['node_modules', ...folders.filter((folder) => folder !== undefined)])];
}

export interface ReadFile {
  entry: FileEntry;
  /** A buffer of its own. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** The contents of files, in their order. The next batch is read while one is dealt with, and no more than that. */
export async function* contentsOf(tree: Tree, files: FileEntry[], signal?: AbortSignal): AsyncGenerator<ReadFile[]> {
  const batches = inBatches(files);
  let next = batches[0] && read(tree, batches[0]);
  for (let index = 0; next !== undefined; index++) {
    throwIfAborted(signal);
    const batch = await next;
    const following = batches[index + 1];
    next = following && read(tree, following);
    // A failure is told when its turn comes; until then it is nobody's.
    next?.catch(() => {});
    yield batch;
  }
}

function inBatches(files: FileEntry[]): FileEntry[][] {
  const batches: FileEntry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const file of files) {
    const last = batches.at(-1);
    if (last && last.length < BATCH_FILES && bytes + file.size <= BATCH_BYTES) last.push(file);
    else {
      batches.push([file]);
      bytes = 0;
    }
    bytes += file.size;
  }
  return batches;
}

async function read(tree: Tree, files: FileEntry[]): Promise<ReadFile[]> {
  const stored = files.flatMap(({ source, size }) => ('key' in source ? [{ ...source, size }] : []));
  const contents = await tree.readRanges({
    keys: stored.map(({ key }) => key),
    offsets: stored.map(({ offset }) => offset),
    sizes: stored.map(({ size }) => size),
  });
  const bytes = contents.values();
  return files.map((entry) => ({
    entry,
    bytes: ('key' in entry.source ? bytes.next().value : entry.source.slice()) as Uint8Array<ArrayBuffer>,
  }));
}
