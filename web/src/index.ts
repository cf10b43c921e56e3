/** The npm package `gantry`: an npm-compatible installer for the browser tab. */
export type { InstallEvent, WorkSummary } from './call-events.js';
export type { InstallOptions, OpenOptions, OutdatedOptions, RemoveOptions, TurnOptions } from './call-options.js';
export { type ChangeListener, type ProjectChange, type WatchOptions, watchProject } from './changes.js';
export type { Directory } from './directory.js';
export { BigIntStats, DirectoryEntry, type StatOptions, Stats } from './entries.js';
export {
  type ErrorData,
  type FileSystemErrorCode,
  GantryError,
  type GantryErrorCode,
  type PageErrorCode,
} from './errors.js';
export type {
  ConflictingDependency,
  ConflictingPackage,
  DependencyExplanation,
  OutdatedDependency,
  PackageExplanation,
  PeerConflict,
} from './explanations.js';
export type { FileHandle, LinesOptions, ReadResult } from './file-handle.js';
export type { MkdirOptions, OpendirOptions, ProjectFileSystem, ReaddirOptions, RmOptions } from './file-system.js';
export { Gantry } from './gantry.js';
export type { ManifestObject, PackageJson } from './package-json.js';
export type { PathLike } from './path-like.js';
export type { Project } from './project.js';
export type {
  DependencyChanges,
  DependencyKind,
  EntryKind,
  PackageChanges,
  Patience,
  Pruning,
  StorageKind,
  StoreUsage,
  Target,
  Verification,
} from './protocol.js';
export type { ReadOptions } from './read-arguments.js';
export type { NameOptions, ReadFileOptions, ReadOptionsOfFiles, TextEncoding } from './text.js';
export type { Exportable } from './tree.js';
export type { WorkspaceChoice } from './workspaces.js';
