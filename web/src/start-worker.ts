/**
 * Starting workers from wherever the package is served, bundled or not.
 *
 * Browsers refuse worker scripts of another origin, Firefox (153) only once the worker is there. From a CDN a worker is started
 * through a one-line script of the page's own origin that loads the other. Where that page has no origin Chromium (156) refuses
 * such a module, but not a classic script. Where addresses have to be trusted these are.
 */
import { baseAddress } from './base-address.js';
import { TRUSTED_POLICY, trusted } from './trusted-address.js';

/** A worker's script, as `new Worker` is given it. */
interface Script {
  url: string;
  options: WorkerOptions;
}

/**
 * What `start` starts: an arrow function of one `new Worker(new URL(…, import.meta.url), …)`, the expression that bundlers look for
 * and put the address of what they have made into. Nobody but who calls `new Worker` has that: so something else is called meanwhile.
 */
export function startWorker(start: () => Worker): Worker {
  const { Worker: own } = globalThis;
  if (!Object.getOwnPropertyDescriptor(globalThis, 'Worker')?.writable) return start();
  globalThis.Worker = class extends own {
    constructor(asked: string | URL, askedOptions: WorkerOptions = {}) {
      const { url, options } = allowed({ url: String(asked), options: askedOptions });
      super(trusted(url), options);
    }
  };
  try {
    return start();
  } finally {
    globalThis.Worker = own;
  }
}

/** The script, or where it is of another origin, which browsers refuse, one of this origin that loads it. */
function allowed(script: Script): Script {
  const address = new URL(script.url, baseAddress());
  return isForeign(address) ? loaderOf(address, script.options) : script;
}

function isForeign({ protocol, origin }: URL): boolean {
  // Not `location.origin`, which sandboxed frames and workers from blobs have of an address that is not theirs.
  return /^https?:$/.test(protocol) && origin !== self.origin;
}

function loaderOf({ href }: URL, options: WorkerOptions): Script {
  const address = JSON.stringify(href);
  const [type, text]: [WorkerType, string] =
    options.type !== 'module'
      ? ['classic', loading(address)]
      : self.origin === 'null'
        ? ['classic', importing(address)]
        : ['module', `import ${address};`];
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  // The URL is needed until the worker has fetched it, and no event tells when.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return { url, options: { ...options, type } };
}

/**
 * A classic script that goes on with another one. The policies of the page count for it, and it makes trusted what they want so.
 * What bundlers make (webpack with `publicPath: 'auto'`, Turbopack) finds its other parts from where it is: so this says that it
 * is where the other one is.
 */
function loading(address: string): string {
  return `
    let address = ${address};
    Reflect.defineProperty(self, 'location', { value: new URL(address), configurable: true });
    try {
      const policy = self.trustedTypes?.createPolicy('${TRUSTED_POLICY}', { createScriptURL: (trusted) => trusted });
      address = policy?.createScriptURL(address) ?? address;
    } catch {}
    importScripts(address);`;
}

/** A classic script that becomes the module: that hears what it was told meanwhile, and its failure is the worker's. */
function importing(address: string): string {
  return `
    const early = [];
    const keep = ({ data, ports }) => early.push({ data, ports });
    addEventListener('message', keep);
    import(${address}).then(
      () => {
        removeEventListener('message', keep);
        for (const message of early) dispatchEvent(new MessageEvent('message', message));
      },
      (error) => reportError(error),
    );`;
}
