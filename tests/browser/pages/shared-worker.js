/** Starts the shared worker that runs a test's own scripts; the result has it run one and gives what comes of it. */
export function startSharedWorker() {
  const { port } = new SharedWorker('/pages/evaluating-shared-worker.js', { type: 'module' });
  return (source) =>
    new Promise((resolve) => {
      port.onmessage = ({ data }) => resolve(data.result ?? data.problem);
      port.postMessage({ source, argument: '' });
    });
}
