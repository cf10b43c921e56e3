/** The platform's conformance suites (crates/conformance), run by a worker of the page. */

const FILES = ['files', 'shared files', 'packs', 'mirror'];

export const SUITES = [...FILES, ...FILES.map((suite) => `${suite} in memory`), 'http', 'clock'];

export interface Outcome {
  report?: string;
  problem?: string;
}

/** For `page.evaluate`, on a page of the site. `base` is the address of a server of the fixtures. */
export function runSuite([suite, base]: readonly [string, string]): Promise<Outcome> {
  return new Promise((settle) => {
    const worker = new Worker('/pages/conformance-worker.js', { type: 'module' });
    worker.addEventListener('message', ({ data }) => settle(data));
    worker.addEventListener('error', ({ message }) => settle({ problem: message }));
    worker.postMessage({ suite, base });
  });
}
