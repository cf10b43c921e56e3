/** A registry of random packages that pages of any origin may ask, and that fails on demand. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dice } from '../../../cli/lib/random/dice.mjs';
import { type Found, type Universe, UniverseRegistry } from '../../../cli/lib/random/registry.mjs';

/** What the registry does instead of answering as it should. */
export type Fault =
  | { kind: 'status'; status: number }
  | { kind: 'reset' }
  | { kind: 'hang' }
  | { kind: 'corrupt' }
  | { kind: 'cut' }
  | { kind: 'slow'; milliseconds: number };

const FAULTS: readonly Fault[] = [
  { kind: 'status', status: 503 },
  { kind: 'status', status: 404 },
  { kind: 'reset' },
  { kind: 'hang' },
  { kind: 'corrupt' },
  { kind: 'cut' },
];

/** None is the most usual. */
export function makeFault(dice: Dice): Fault | undefined {
  if (dice.chance(0.2)) return dice.one(FAULTS);
  return dice.chance(0.4) ? { kind: 'slow', milliseconds: dice.one([20, 100, 300]) } : undefined;
}

export class FaultyRegistry {
  /** So far. */
  requests = 0;
  readonly #registry = new UniverseRegistry((request, response, found) => this.#receive(request, response, found));
  #failing: { fault: Fault; share: number } | undefined;
  readonly #asked = new Map<string, number>();
  readonly #hanging: ServerResponse[] = [];

  get url(): string {
    return this.#registry.url;
  }

  async start(universe: Universe): Promise<this> {
    await this.#registry.start();
    this.#registry.serve(universe);
    return this;
  }

  stop(): Promise<void> {
    return this.#registry.stop();
  }

  publish(): void {
    this.#registry.publish();
  }

  /** From now on a fault is played to such a share of what is asked for. */
  fail(fault: Fault, share: number): void {
    this.#failing = { fault, share };
  }

  healthy(): void {
    this.#failing = undefined;
    for (const response of this.#hanging.splice(0)) response.destroy();
  }

  #receive(request: IncomingMessage, response: ServerResponse, found: Found): void {
    for (const kind of ['allow-origin', 'allow-headers', 'expose-headers']) {
      response.setHeader(`access-control-${kind}`, '*');
    }
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    this.requests++;
    const path = request.url ?? '';
    const fault = this.#faultFor(path);
    if (fault?.kind === 'reset') response.destroy();
    else if (fault?.kind === 'hang') this.#hanging.push(response);
    else if (fault?.kind === 'status') response.writeHead(fault.status).end('{}');
    else if (fault?.kind === 'slow')
      setTimeout(() => send(request, response, found), fault.milliseconds * shareOf(`slow ${path}`));
    else if (found.isTarball && Buffer.isBuffer(found.body) && fault) sendDamaged(response, found.body, fault, path);
    else send(request, response, found);
  }

  /** In what order things are asked for is nobody's choice, so it depends on what is asked for, and how often that was. */
  #faultFor(path: string): Fault | undefined {
    const times = (this.#asked.get(path) ?? 0) + 1;
    this.#asked.set(path, times);
    if (!this.#failing) return undefined;
    const { fault, share } = this.#failing;
    return fault.kind === 'slow' || shareOf(`${times} ${path}`) < share ? fault : undefined;
  }
}

/** At least 0 and below 1; always the same for one text. */
const shareOf = (text: string) => createHash('sha1').update(text).digest().readUInt32BE() / 2 ** 32;

function sendDamaged(response: ServerResponse, body: Buffer, { kind }: Fault, path: string): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': body.length });
  if (kind === 'cut') {
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
    return;
  }
  const bytes = Buffer.from(body);
  const at = Math.floor(shareOf(`corrupt ${path}`) * bytes.length);
  bytes[at] = (bytes[at] as number) ^ 0x11;
  response.end(bytes);
}

function send(request: IncomingMessage, response: ServerResponse, { body, isTarball }: Found): void {
  if (body === undefined) {
    response.writeHead(404).end('{}');
    return;
  }
  // Documents are kept, for what installs offline, and asked for anew.
  const etag = `"${createHash('sha1').update(body).digest('hex')}"`;
  response.setHeader('cache-control', 'no-cache');
  response.setHeader('etag', etag);
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  const type = isTarball ? 'application/octet-stream' : 'application/json';
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}
