import { GantryError } from '../errors.js';

/** Why a call that was told to stop did. */
export function stopped(signal: AbortSignal): GantryError {
  const { reason } = signal;
  return reason instanceof GantryError
    ? reason
    : new GantryError({ code: 'ABORTED', message: 'The operation was aborted' });
}
