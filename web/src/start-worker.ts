/**
 * Starting module workers from wherever the package is served.
 *
 * Browsers refuse worker scripts of another origin. A package loaded from a CDN is started through a one-line module of
 * the page's own origin that imports it. Where that has no origin Chromium (156) refuses such a module, but not a classic script.
 */

/** Whether `moduleUrl` (an `import.meta.url`) is of another origin, so that `new Worker` refuses what lies beside it. */
export function isForeign(moduleUrl: string): boolean {
  const { protocol, origin } = new URL(moduleUrl);
  // webpack writes the address that the module's file had when it was bundled, `file:`, and serves it with the page.
  // Not `location.origin`, which sandboxed frames and workers from blobs have of an address that is not theirs.
  return /^https?:$/.test(protocol) && origin !== self.origin;
}

/** Start the module `path` that lies beside `moduleUrl`, on another origin. */
export function startForeignWorker(path: string, moduleUrl: string, name: string): Worker {
  const address = JSON.stringify(new URL(path, moduleUrl).href);
  const [type, script]: [WorkerType, string] =
    self.origin === 'null' ? ['classic', importing(address)] : ['module', `import ${address};`];
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const worker = new Worker(url, { type, name });
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
