/**
 * Pages that are prerendered, as speculation rules have it: their scripts run before anybody has asked for them, and meanwhile
 * browsers start no workers and grant no locks. That may take minutes, so nothing that has a time-out begins before it is over.
 */
import { abortedError } from './aborted.js';
import { unlessAborted } from './unless-aborted.js';

/** What the declarations of browsers leave out, since only Chromium prerenders. */
interface Prerendered {
  readonly prerendering?: boolean;
}

/** Resolves once somebody has come to this page, at once where it is not prerendered. `signal` ends it. */
export async function untilActivated(signal: AbortSignal | undefined): Promise<void> {
  if (typeof document === 'undefined' || !(document as Prerendered).prerendering) return;
  await unlessAborted(signal, abortedError, () => activation());
}

function activation(): Promise<void> {
  return new Promise((resolve) => {
    document.addEventListener('prerenderingchange', () => resolve(), { once: true });
  });
}
