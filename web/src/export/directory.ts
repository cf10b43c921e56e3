/**
 * Writing a tree as real files, into a folder of the File System API: of OPFS, or one that the user has picked.
 *
 * A file costs about a millisecond in OPFS however it is written, so several workers write, each many at once. Such folders
 * have neither links nor modes: links are not written but told of, and no file may be run.
 */
import { throwIfAborted } from '../aborted.js';
import { GantryError } from '../errors.js';
import { type Exportable, TREE } from '../tree.js';
import { contentsOf, entriesOf, moduleFolders } from './entries.js';
import { FileWriters } from './file-writers.js';
import { checkDirectory, type DirectoryOptions } from './options.js';

export interface SkippedLink {
  path: string;
  /** Relative to the folder that the link would be in. */
  target: string;
}

export interface DirectoryReport {
  files: number;
  bytes: number;
  /** Commands (`node_modules/.bin`) and packages that are folders of the project: none of them is written. */
  skipped: SkippedLink[];
  /** How files were written: `access handles` in OPFS, `writable streams` elsewhere. */
  method: 'access handles' | 'writable streams';
}

/**
 * Write all files of a tree below `directory`. Unless it is to be cleaned files that are there are replaced, and what else is
 * there stays, of an earlier tree too. When it fails or is stopped, some are written and some are not: call it again. Nothing is
 * written any more once it has settled.
 */
export async function writeDirectory(
  project: Exportable,
  directory: FileSystemDirectoryHandle,
  options: DirectoryOptions = {},
): Promise<DirectoryReport> {
  checkDirectory(project, directory, options);
  const { clean, signal, onProgress } = options;
  throwIfAborted(signal);
  const tree = project[TREE];
  const entries = entriesOf(await tree.listing());
  const files = entries.filter((entry) => entry.kind === 'file');
  const report: DirectoryReport = { files: 0, bytes: 0, skipped: [], method: 'access handles' };
  for (const entry of entries) {
    if (entry.kind === 'symlink') report.skipped.push({ path: entry.path, target: entry.target });
  }
  if (clean) for (const path of moduleFolders(entries)) await removeFolder(directory, path);
  throwIfAborted(signal);
  const writers = new FileWriters(directory, signal);
  try {
    for await (const batch of contentsOf(tree, files, signal)) {
      await writers.write(
        batch.map(({ entry, bytes }) => ({ path: entry.path, bytes })),
        (method) => {
          report.method = method;
          report.files += batch.length;
          report.bytes += batch.reduce((total, { entry }) => total + entry.size, 0);
          onProgress?.({ files: report.files, of: files.length });
        },
      );
    }
    await writers.finish();
  } finally {
    await writers.end();
  }
  return report;
}

async function removeFolder(directory: FileSystemDirectoryHandle, path: string): Promise<void> {
  try {
    let folder = directory;
    const names = path.split('/');
    for (const name of names.slice(0, -1)) folder = await folder.getDirectoryHandle(name);
    await folder.removeEntry(names.at(-1) as string, { recursive: true });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotFoundError') return;
    const message = `${path} could not be removed: ${error instanceof Error ? error.message : error}`;
    const hint = 'Check that the folder may be written and that nothing else has it open.';
    throw new GantryError({ code: 'EXPORT_FAILED', message, hint }, { cause: error });
  }
}
