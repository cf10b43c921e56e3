/** A tree as the object that WebContainers mount. */
import { throwIfAborted } from '../aborted.js';
import { type Exportable, TREE } from '../tree.js';
import { contentsOf, entriesOf } from './entries.js';
import { checkFileSystemTree, type TreeOptions } from './options.js';

/** What `mount` of `@webcontainer/api` takes, as its own `FileSystemTree`. */
export interface FileSystemTree {
  [name: string]: FileSystemTreeNode;
}

export type FileSystemTreeNode =
  | { file: { contents: Uint8Array<ArrayBuffer> } }
  | { file: { symlink: string } }
  | { directory: FileSystemTree };

/**
 * All files and links, with `node_modules` at the top. All of it is in memory. The object cannot say that a file may be run:
 * WebContainers run commands by `node_modules/.bin`, whose links are there.
 */
export async function toFileSystemTree(project: Exportable, options: TreeOptions = {}): Promise<FileSystemTree> {
  checkFileSystemTree(project, options);
  const { signal } = options;
  throwIfAborted(signal);
  const tree = project[TREE];
  const entries = entriesOf(await tree.listing());
  const root: FileSystemTree = {};
  const directories = new Map([['', root]]);
  const directory = (path: string): FileSystemTree => {
    const known = directories.get(path);
    if (known) return known;
    const made: FileSystemTree = {};
    directories.set(path, made);
    put(path, { directory: made });
    return made;
  };
  const put = (path: string, node: FileSystemTreeNode) => {
    const end = path.lastIndexOf('/');
    const value = { value: node, writable: true, enumerable: true, configurable: true };
    // Not by assignment: a file may be called `__proto__`.
    Object.defineProperty(directory(path.slice(0, Math.max(end, 0))), path.slice(end + 1), value);
  };
  for (const entry of entries) if (entry.kind === 'symlink') put(entry.path, { file: { symlink: entry.target } });
  const files = entries.filter((entry) => entry.kind === 'file');
  for await (const batch of contentsOf(tree, files, signal)) {
    for (const { entry, bytes } of batch) put(entry.path, { file: { contents: bytes } });
  }
  return root;
}
