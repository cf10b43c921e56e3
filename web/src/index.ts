/** The npm package `gantry`: an npm-compatible installer for the browser tab. */
export {
  type ErrorData,
  type FileSystemErrorCode,
  GantryError,
  type GantryErrorCode,
  type PageErrorCode,
} from './errors.js';
export { DirectoryEntry, type ProjectFileSystem, Stats, type TextEncoding } from './file-system.js';
export { Gantry, type InstallOptions, type OpenOptions } from './gantry.js';
export type { Project } from './project.js';
export type {
  DependencyExplanation,
  DependencyKind,
  EntryKind,
  InstallEvent,
  PackageExplanation,
  StoreUsage,
  Target,
  Verification,
  WorkSummary,
} from './protocol.js';
