/** Copying a tree into a file system that is written synchronously: a volume of `memfs`, ZenFS, Node's own `fs`. */
import { throwIfAborted } from '../aborted.js';
import { type Exportable, TREE } from '../tree.js';
import { contentsOf, entriesOf, moduleFolders } from './entries.js';
import { checkVolume, type VolumeOptions } from './options.js';

/** The functions of Node's `fs` that are used. */
export interface WritableVolume {
  mkdirSync(path: string, options: { recursive: true }): unknown;
  writeFileSync(path: string, data: Uint8Array, options: { mode: number }): unknown;
  symlinkSync(target: string, path: string): unknown;
  /** For `clean`. */
  rmSync?(path: string, options: { recursive: true; force: true }): unknown;
}

/**
 * Write all files, with their modes, and all links. Unless it is to be cleaned files that are there are replaced, what else is
 * there stays, of an earlier tree too, and a link that is there is an error (`EEXIST`). Links are written last, so that their
 * targets are there.
 */
export async function fillVolume(
  project: Exportable,
  volume: WritableVolume,
  options: VolumeOptions = {},
): Promise<void> {
  checkVolume(project, volume, options);
  const { directory = '/', clean, signal } = options;
  throwIfAborted(signal);
  const tree = project[TREE];
  const entries = entriesOf(await tree.listing());
  const made = new Set<string>();
  const at = (path: string) => (directory.endsWith('/') ? `${directory}${path}` : `${directory}/${path}`);
  if (clean) for (const path of moduleFolders(entries)) volume.rmSync?.(at(path), { recursive: true, force: true });
  const place = (path: string) => {
    const full = at(path);
    const parent = full.slice(0, full.lastIndexOf('/'));
    if (!made.has(parent)) {
      volume.mkdirSync(parent, { recursive: true });
      made.add(parent);
    }
    return full;
  };
  const files = entries.filter((entry) => entry.kind === 'file');
  for await (const batch of contentsOf(tree, files, signal)) {
    for (const { entry, bytes } of batch) {
      volume.writeFileSync(place(entry.path), bytes, { mode: entry.executable ? 0o755 : 0o644 });
    }
  }
  for (const entry of entries) if (entry.kind === 'symlink') volume.symlinkSync(entry.target, place(entry.path));
}
