/** How a project is opened by who reads it without an open store. */
import { baseAddress } from './base-address.js';
import { type Checks, checkOptions, text } from './options.js';
import { originFolder } from './origin-storage.js';
import { checkedStore } from './store-name.js';
import { compile, instantiate, moduleUnavailable } from './wasm.js';

export interface OpenProjectOptions {
  /** The name of the store, as for `Gantry.open`. */
  store?: string;
  /** The name of the project, as for `install`. */
  project?: string;
  /** Where `gantry_bg.wasm` is, when it is not beside the package's scripts. */
  wasmUrl?: string | URL;
}

/** Which project of which store. */
export interface ProjectName {
  store: string;
  project: string;
}

const OPEN_PROJECT: Checks<OpenProjectOptions> = { store: text, project: text, wasmUrl: undefined };

/** What the options name. */
export function namedProject(options: OpenProjectOptions): ProjectName {
  checkOptions('openProject', options, OPEN_PROJECT);
  return { store: checkedStore(options.store), project: options.project ?? 'default' };
}

/** Have what reading needs: storage, and this thread's instance of the module. */
export async function prepareReading(wasmUrl: string | URL | undefined): Promise<void> {
  await originFolder();
  await loadModule(wasmUrl);
}

let loading: Promise<void> | undefined;

/** Once in each worker; a failure is not remembered. */
function loadModule(wasmUrl: string | URL | undefined): Promise<void> {
  const address = wasmUrl && new URL(wasmUrl, baseAddress()).href;
  loading ??= compile(address || undefined, new AbortController().signal)
    .then(instantiate)
    .catch((error: unknown) => {
      loading = undefined;
      throw moduleUnavailable(error);
    });
  return loading;
}
