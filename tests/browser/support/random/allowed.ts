/** With which codes a call of a random course may fail, and why; all others are problems. */
import type { Call } from './calls.js';
import type { PageFault } from './faults.js';
import type { Victim } from './victim.js';

/** What says that something is not stored, or not as it was. */
export const LACKING: readonly string[] = ['STORE_CORRUPT', 'LAYOUT_MISSING', 'STORE_LOST'];

/** What goes on while a call runs. */
export interface Circumstances {
  fault: PageFault | undefined;
  victim: Victim | undefined;
  /** Whether the store is in memory. */
  isInMemory: boolean;
  /** Whether something stored has been damaged, or was lost with a worker, and is not mended yet. */
  isDamaged: boolean;
  /** Whether the store is emptied meanwhile, in this tab or another. */
  isCleared: boolean;
  /** Whether somebody reads without the coordinator, which keeps the store from being pruned or cleared. */
  hasReaders: boolean;
  /** Whether there are other calls. */
  isBusy: boolean;
}

/** Documents fail in the same ways as tarballs but for what is in them. */
const BY_FAULT: Record<PageFault['kind'], readonly string[]> = {
  status: ['REGISTRY_STATUS', 'REGISTRY_NOT_FOUND', 'RESOLVE_PACKAGE_NOT_FOUND'],
  reset: ['REGISTRY_UNREACHABLE'],
  hang: ['REGISTRY_TIMEOUT', 'REGISTRY_UNREACHABLE'],
  corrupt: ['ARCHIVE_INTEGRITY'],
  cut: ['REGISTRY_UNREACHABLE'],
  slow: [],
};

/** What reads a project; the rest of the store is whole where one of its packages is not. */
const READS = /^(read|digest|links|openHandle|tar|zip|volume|directory|why|state|openReader|refreshReader)/;

export function allowedCodes(call: Call, circumstances: Circumstances): Set<string> {
  const { tab, action, argument, outcome } = call;
  const { fault, victim, isInMemory, isDamaged, isCleared, hasReaders, isBusy } = circumstances;
  const allowed = new Set<string>();
  const allow = (isAllowed: boolean, ...codes: readonly string[]) => {
    if (isAllowed) for (const code of codes) allowed.add(code);
  };
  const ended = victim?.tab === tab ? victim.what : undefined;
  const isInstall = action === 'install';
  const asksRegistry = isInstall || action === 'explain';
  // A stream of the browser's gives the signal's own reason.
  allow(outcome.isAborted === true, 'ABORTED', 'AbortError');
  allow(ended === 'coordinator', 'WORKER_LOST');
  allow(ended === 'store', 'CLOSED');
  // What it was asked for its successor is asked again. Of a store in memory it takes along what it has.
  allow(ended === 'unpack worker' && isInstall && isInMemory, 'STORE_LOST');
  allow(asksRegistry && fault !== undefined, ...(fault ? BY_FAULT[fault.kind] : []));
  allow(asksRegistry && argument.offline === true, 'REGISTRY_NOT_CACHED');
  // What is kept may be of before what was published since.
  allow(asksRegistry && (argument.offline || argument.preferOffline) === true, 'RESOLVE_NO_MATCHING_VERSION');
  allow(/^(prune|clear)$/.test(action) && hasReaders, 'STORE_LOCKED');
  allow(READS.test(action), 'PROJECT_UNKNOWN');
  // The tree that a path was found in is another one by now.
  allow(READS.test(action) && isBusy, 'ENOENT');
  // Who began before goes on with a tree whose files are gone.
  allow(READS.test(action) && isCleared, 'STORE_LOST', 'LAYOUT_MISSING');
  // What was found damaged has left the store.
  allow(READS.test(action) && isDamaged, ...LACKING);
  // A file that was opened and has left the store since, with its package.
  allow(action === 'readHandles', 'STORE_LOST', 'LAYOUT_MISSING');
  // Its worker was ended by the test.
  allow(/Reader$/.test(action), 'ENDED');
  return allowed;
}
