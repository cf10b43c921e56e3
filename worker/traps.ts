/**
 * Wasm traps. A panic in Rust ends in a `WebAssembly.RuntimeError`, a stack that is used up in an error that JavaScript has
 * for the same; the memory behind it may be half-changed, so the worker must not be asked anything again. It surfaces as a
 * rejection of the call, or, from a spawned task, as an uncaught error while the call stays pending for ever.
 */
import { type ErrorData, GantryError } from '../errors.js';

/** Report the first trap, wherever it surfaces. The returned function is for errors that were caught. */
export function reportTraps(report: (error: ErrorData) => void): (error: unknown) => boolean {
  let reported = false;
  const isTrap = (thrown: unknown): boolean => {
    // What reads through its own wasm has made an error of its kind of it.
    const error = thrown instanceof GantryError ? thrown.cause : thrown;
    if (!(error instanceof WebAssembly.RuntimeError || isStackOverflow(error))) return false;
    if (!reported) {
      reported = true;
      report({
        code: 'WORKER_LOST',
        message: `A worker failed: ${error.message}`,
        hint: 'This is a defect of the installer or a lack of memory. Nothing reported as installed is lost.',
      });
    }
    return true;
  };
  self.addEventListener('error', (event) => {
    if (isTrap((event as ErrorEvent).error)) event.preventDefault();
  });
  self.addEventListener('unhandledrejection', (event) => {
    if (isTrap((event as PromiseRejectionEvent).reason)) event.preventDefault();
  });
  return isTrap;
}

/** Chromium and Safari have a `RangeError` for it, Firefox an `InternalError`; the standard has none. */
function isStackOverflow(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return error.name === 'InternalError' || (error instanceof RangeError && /call stack/i.test(error.message));
}
