/** Why a worker's script does not run, as whoever started the worker hears of it, and what to do about it. */

export const RELOAD =
  'If the site was deployed anew since this page was loaded, what this page asks for may be gone: reload it.';

export const SERVED = `Check that dist/worker/ and wasm/ of the package are served (by the development server of Vite 5 to 7 they are if optimizeDeps.exclude has the package), and allowed: by worker-src of the Content-Security-Policy of the page, and with its Cross-Origin-Embedder-Policy, if it has one. ${RELOAD}`;

export interface ScriptFailure {
  reason: string;
  /** Missing where the worker has ended without such an event. */
  hint?: string;
}

/** What the event `error` of a worker says, which has a message only of scripts that were loaded. */
export function scriptFailure({ message }: Partial<ErrorEvent>): ScriptFailure {
  return { reason: message ?? 'its script could not be loaded', hint: SERVED };
}
