/** The caller's `AbortSignal`: telling one from what is none, and the error of everything that it ends. */
import { GantryError } from './errors.js';

const readAborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')?.get;

/** Not by its class: another frame's signals are signals. */
export function isSignal(value: unknown): value is AbortSignal {
  try {
    readAborted?.call(value);
    return true;
  } catch {
    return false;
  }
}

/** Why something ends that `signal` has ended. */
export function abortedError(signal: AbortSignal): GantryError {
  return new GantryError({ code: 'ABORTED', message: 'The operation was aborted' }, { cause: signal.reason });
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}
