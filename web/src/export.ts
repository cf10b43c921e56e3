/**
 * `gantry/export`: giving an installed tree to what takes files: WebContainers, `memfs` and its like, directories of the
 * File System API, archives. Each takes a project of `gantry`, `gantry/sync` or `gantry/read`, and the tree as it is when it is called;
 * installs meanwhile change nothing.
 */

export { toTar, toZip } from './export/archive.js';
export { type DirectoryReport, type SkippedLink, writeDirectory } from './export/directory.js';
export {
  type FileSystemTree,
  type FileSystemTreeNode,
  toFileSystemTree,
} from './export/file-system-tree.js';
export type { DirectoryOptions, StreamOptions, TreeOptions, VolumeOptions } from './export/options.js';
export { fillVolume, type WritableVolume } from './export/volume.js';
