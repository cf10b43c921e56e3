// The types of registry.mjs, for the tests of the browser.
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface UniverseVersion {
  dependencies?: Record<string, string>;
  bin?: Record<string, string>;
  /** What its tarball has besides, by path. */
  files?: Record<string, Uint8Array>;
  /** Whether it is there only once the rest is published. */
  later?: boolean;
}

/** What there is of a package, by its name. */
export type Universe = Record<string, { tags: Record<string, string>; versions: Record<string, UniverseVersion> }>;

/** What was asked for; without a body there is no such thing. */
export interface Found {
  body: string | Buffer | undefined;
  isTarball: boolean;
}

export declare class UniverseRegistry {
  /** Ends with a slash. */
  readonly url: string;
  constructor(send?: (request: IncomingMessage, response: ServerResponse, found: Found) => void);
  start(): Promise<this>;
  stop(): Promise<void>;
  serve(universe: Universe): void;
  prepare(): void;
  publish(): void;
}
