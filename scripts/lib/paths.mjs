// Where things are in this repository. Nothing here touches the disk.
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const inRoot = (...parts) => join(root, ...parts);

/** Cargo's target directory; `CARGO_TARGET_DIR` is honoured as cargo does. */
export const targetDirectory = resolve(root, process.env.CARGO_TARGET_DIR || 'target');
export const inTarget = (...parts) => join(targetDirectory, ...parts);

export const wasmTarget = 'wasm32-unknown-unknown';
export const wasiTarget = 'wasm32-wasip1';

/** The crates that are part of the browser's module and must build for it. */
export const portableCrates = [
  'spec',
  'manifest',
  'archive',
  'store',
  'layout',
  'resolver',
  'platform',
  'registry',
  'engine',
  'browser',
];

/** The command for WASI hosts. */
export const wasiCommand = resolve(root, process.env.GANTRY_WASI || inRoot('web', 'wasi', 'gantry.wasm'));

/** Binaries of `npm run build`; the environment can name others (a debug build, say). */
export const gantryCommand = resolve(root, process.env.GANTRY_BIN || inTarget('release', 'gantry'));
export const registryCommand = resolve(root, process.env.GANTRY_REGISTRY_BIN || inTarget('release', 'gantry-registry'));

/** A command that `npm ci` brought. */
export const nodeBinary = (name) => inRoot('node_modules', '.bin', name);

export const pathWith = (...first) => [...first, process.env.PATH ?? ''].join(delimiter);
