/** What exporters are given. It is looked at before anything is read or written. */
import { type Checks, checkOptions, flag, invalid, listener, shown, signal, text } from '../options.js';
import { TREE } from '../tree.js';

export interface StreamOptions {
  /** Ends the stream with the signal's reason. */
  signal?: AbortSignal;
}

export interface DirectoryOptions {
  /** First remove the folders `node_modules` that the tree has, with all that is in them. */
  clean?: boolean;
  /** Ends it with `ABORTED`. */
  signal?: AbortSignal;
  /** Called now and then with how much has been written. */
  onProgress?: (progress: { files: number; of: number }) => void;
}

export interface TreeOptions {
  /** Ends it with `ABORTED`. */
  signal?: AbortSignal;
}

export interface VolumeOptions {
  /** The folder that `node_modules` is written into; `/` unless given. It is made if need be. */
  directory?: string;
  /** First remove the folders `node_modules` that the tree has, with all that is in them. */
  clean?: boolean;
  /** Ends it with `ABORTED`. */
  signal?: AbortSignal;
}

const STREAM: Checks<StreamOptions> = { signal };
const DIRECTORY: Checks<DirectoryOptions> = { clean: flag, signal, onProgress: listener };
const VOLUME: Checks<VolumeOptions> = { directory: text, clean: flag, signal };
const FILE_SYSTEM_TREE: Checks<TreeOptions> = { signal };

export function checkStream(call: 'toTar' | 'toZip', project: unknown, options: unknown): void {
  checkExport<StreamOptions>(call, project, options, STREAM);
}

export function checkFileSystemTree(project: unknown, options: unknown): void {
  checkExport<TreeOptions>('toFileSystemTree', project, options, FILE_SYSTEM_TREE);
}

export function checkVolume(project: unknown, volume: unknown, options: VolumeOptions): void {
  checkExport<VolumeOptions>('fillVolume', project, options, VOLUME);
  const names = ['mkdirSync', 'writeFileSync', 'symlinkSync', ...(options.clean ? ['rmSync'] : [])];
  requireFunctions('volume', volume, names);
}

export function checkDirectory(project: unknown, directory: unknown, options: unknown): void {
  checkExport<DirectoryOptions>('writeDirectory', project, options, DIRECTORY);
  requireFunctions('directory', directory, ['getDirectoryHandle', 'getFileHandle']);
}

function checkExport<Options>(call: string, project: unknown, options: unknown, checks: Checks<Options>): void {
  if (typeof project !== 'object' || project === null || !(TREE in project)) {
    const hint = 'Give what install, gantry.project or openProject has resolved with.';
    throw invalid(`${call} takes a project: ${shown(project)} is none`, hint);
  }
  checkOptions(call, options, checks);
}

function requireFunctions(name: string, value: unknown, functions: readonly string[]): void {
  const isObject = typeof value === 'object' && value !== null;
  const missing = functions.find((each) => !isObject || typeof (value as Record<string, unknown>)[each] !== 'function');
  if (missing !== undefined) throw invalid(`${name}: ${shown(value)} has no ${missing}`);
}
