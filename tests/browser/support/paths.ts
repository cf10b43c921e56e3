/** Where the tests find things, and where they put what they build. */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const inRoot = (...parts: string[]) => join(root, ...parts);

const built = (variable: string, name: string) =>
  resolve(root, process.env[variable] || join('target', 'release', name));
export const gantryCommand = built('GANTRY_BIN', 'gantry');
export const registryCommand = built('GANTRY_REGISTRY_BIN', 'gantry-registry');

const scratch = inRoot('node_modules', '.cache', 'gantry-browser-tests');
/** The playground as it is published. */
export const siteFolder = join(scratch, 'site');
/** The npm package as it is published. */
export const packageFolder = join(scratch, 'package');
/** A page of a user of the package, as a bundler makes it. */
export const bundledFolder = join(scratch, 'bundled');
/** What takes exported trees, bundled for a page. */
export const consumersFolder = join(scratch, 'consumers');
/** The wasm module with the conformance suites in it; `npm test` builds it. */
export const conformanceFolder = join(scratch, 'conformance');
