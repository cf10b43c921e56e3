/** What is told of a call while it is under way. */

/** Another tab has the store, and does something with it: the call begins when that is done. */
export interface WaitingEvent {
  type: 'waiting';
}

export type OpenEvent =
  /** The worker holds its `aliveLock`; `isApart`: but the page would not see that (`isHeld`). */
  { type: 'alive'; isApart: boolean } | WaitingEvent;

/** One kind of work in figures. Times are in milliseconds. */
export interface WorkSummary {
  /**
   * Requests, waiting before one is made again, then what was done with what came; `kept` is looking for a kept document,
   * `mirror`, which pages do not tell, keeping one.
   */
  work:
    | 'packument'
    | 'version'
    | 'tarball'
    | 'backoff'
    | 'inflate'
    | 'kept'
    | 'scan'
    | 'mirror'
    | 'verify'
    | 'unpack'
    | 'store'
    | 'resolve';
  count: number;
  /** Requests without an answer, or with one that was of no use. */
  failed: number;
  /** Requests that nobody waited for any longer. */
  abandoned: number;
  /** From the first beginning to the last end. */
  wall: number;
  /** Time in which at least one was under way. */
  busy: number;
  /** All durations together. */
  sum: number;
  /** How many were under way on average while any was. */
  concurrency: number;
  p50: number;
  p95: number;
  max: number;
  /** What they waited for a free slot, on average. */
  queued: number;
  queuedMax: number;
  bytes: number;
}

/** What happens during an install, in order. Counts never go down within one install. */
export type InstallEvent =
  | WaitingEvent
  | { type: 'phase'; phase: 'resolve' | 'fetch' | 'link' | 'lock' }
  | {
      type: 'progress';
      /** Packages whose version is known. */
      resolved: number;
      /** Packages that must be in the store, as far as is known. */
      wanted: number;
      downloaded: number;
      unpacked: number;
      /** Packages that the store already had. */
      reused: number;
      /** Compressed bytes received. */
      bytes: number;
      requests: number;
      /** Milliseconds since the install began. */
      elapsed: number;
    }
  | { type: 'package'; name: string; version: string; reused: boolean }
  | { type: 'warning'; code: string; message: string }
  /** Where the time went; comes after all but `done`, and also where an install failed. Milliseconds. */
  | {
      type: 'timing';
      phases: { phase: 'resolve' | 'fetch' | 'link' | 'lock'; began: number; ended: number }[];
      work: WorkSummary[];
      /** Every request and every piece of work, as a file that Chrome's trace viewer and Perfetto open. */
      trace: string;
    }
  /** The install is complete and recorded. */
  | { type: 'done'; packages: number; files: number; requests: number; bytes: number; elapsed: number };
