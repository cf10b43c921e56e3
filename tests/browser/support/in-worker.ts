/** Running a test's own script in a worker of the user's, with `gantry/sync` and `gantry/export` at hand. */

export type WorkerModules = typeof import('../../../web/src/sync.js') & typeof import('../../../web/src/export.js');

/** For `page.evaluate` on a page of the site, in any browser: `argument` of {@link inWorker}. */
export function evaluateInWorker<T>([source, argument]: readonly [string, string]): Promise<T> {
  return new Promise((resolve, reject) => {
    const worker = new Worker('/pages/evaluating-worker.js', { type: 'module' });
    const end = (settle: () => void) => {
      worker.terminate();
      settle();
    };
    worker.onmessage = ({ data }) =>
      end(() => ('problem' in data ? reject(new Error(data.problem)) : resolve(data.result)));
    worker.onerror = ({ message }) => end(() => reject(new Error(message)));
    worker.postMessage({ source, argument });
  });
}

/** What {@link evaluateInWorker} takes; results come back by structured clone. */
export function inWorker<T>(
  script: (modules: WorkerModules, argument: string) => T | Promise<T>,
  argument = '',
): readonly [string, string] {
  return [script.toString(), argument];
}
