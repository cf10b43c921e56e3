// The types of faulty-registry.mjs, for the tests of the browser.
import type { Universe } from './registry.mjs';

/** What the registry does instead of answering as it should. */
export type Fault =
  | { kind: 'status'; status: number; retryAfter?: string }
  /** Of tarballs alone. */
  | { kind: 'corrupt' | 'cut' }
  | { kind: 'reset' | 'hang' | 'hang in body' | 'html' | 'empty' | 'half' | 'gzip garbage' | 'circle' | 'not modified' }
  /** At most so many. */
  | { kind: 'slow'; milliseconds: number };

export declare class FaultyRegistry {
  /** So far. */
  readonly requests: number;
  /** Ends with a slash. */
  readonly url: string;
  /** `isForPages`: whether pages of any origin may ask it. */
  constructor(options?: { isForPages?: boolean });
  start(universe: Universe): Promise<this>;
  stop(): Promise<void>;
  publish(): void;
  /** From now on a fault is played to such a share of what is asked for. */
  fail(fault: Fault, share: number): void;
  healthy(): void;
}
