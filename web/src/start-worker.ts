/**
 * Starting workers from wherever the package is served, bundled or not.
 *
 * Browsers refuse worker scripts of another origin, Firefox (153) only once the worker is there. From a CDN a worker is started
 * through a one-line script of the page's own origin that loads the other. Where that page has no origin Chromium (156) refuses
 * such a module, but not a classic script.
 */
import { baseAddress } from './base-address.js';

/** A worker's script, as `new Worker` is given it. */
interface Script {
  url: URL;
  options: WorkerOptions;
}

/**
 * What `start` starts: an arrow function of one `new Worker(new URL(…, import.meta.url), …)`, the expression that bundlers look for
 * and put the address of what they have made into.
 */
export function startWorker(start: () => Worker): Worker {
  const script = scriptOf(start);
  return script && isForeign(script.url) ? startForeignWorker(script) : start();
}

/** Whether an address is of another origin, which browsers refuse. */
function isForeign({ protocol, origin }: URL): boolean {
  // Not `location.origin`, which sandboxed frames and workers from blobs have of an address that is not theirs.
  return /^https?:$/.test(protocol) && origin !== self.origin;
}

/**
 * Nobody but who calls `new Worker` has the address that a bundler has written there: so that is called in its place. Nothing where
 * that cannot be.
 */
function scriptOf(start: () => Worker): Script | undefined {
  const { Worker: own } = globalThis;
  if (!Object.getOwnPropertyDescriptor(globalThis, 'Worker')?.writable) return undefined;
  let script: Script | undefined;
  globalThis.Worker = class {
    constructor(url: string | URL, options: WorkerOptions = {}) {
      script = { url: new URL(url, baseAddress()), options };
    }
  } as unknown as typeof Worker;
  try {
    start();
  } finally {
    globalThis.Worker = own;
  }
  return script;
}

function startForeignWorker({ url: { href }, options }: Script): Worker {
  const address = JSON.stringify(href);
  const [type, text]: [WorkerType, string] =
    options.type !== 'module'
      ? ['classic', `importScripts(${address});`]
      : self.origin === 'null'
        ? ['classic', importing(address)]
        : ['module', `import ${address};`];
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(url, { ...options, type });
  // The URL is needed until the worker has fetched it, and no event tells when.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return worker;
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
