// A registry of a universe that fails on demand.
import { createHash } from 'node:crypto';
import { UniverseRegistry } from './registry.mjs';

const HTML = '<!doctype html><title>Sign in</title><p>Please sign in to the network.</p>\n';

/** At least 0 and below 1; always the same for one text. */
const shareOf = (text) => createHash('sha1').update(text).digest().readUInt32BE() / 2 ** 32;

export class FaultyRegistry {
  /** So far. */
  requests = 0;
  #registry = new UniverseRegistry((request, response, found) => this.#receive(request, response, found));
  #isForPages;
  #failing;
  #asked = new Map();
  #hanging = [];

  /** `isForPages`: whether pages of any origin may ask it. */
  constructor({ isForPages = false } = {}) {
    this.#isForPages = isForPages;
  }

  get url() {
    return this.#registry.url;
  }

  async start(universe) {
    await this.#registry.start();
    this.#registry.serve(universe);
    this.#registry.prepare();
    return this;
  }

  stop() {
    return this.#registry.stop();
  }

  publish() {
    this.#registry.publish();
    this.#registry.prepare();
  }

  /** From now on a fault is played to such a share of what is asked for. */
  fail(fault, share) {
    this.#failing = { fault, share };
  }

  healthy() {
    this.#failing = undefined;
    for (const response of this.#hanging.splice(0)) response.destroy();
  }

  #receive(request, response, found) {
    if (this.#isForPages) {
      for (const kind of ['allow-origin', 'allow-headers', 'expose-headers']) {
        response.setHeader(`access-control-${kind}`, '*');
      }
      if (request.method === 'OPTIONS') {
        response.writeHead(204).end();
        return;
      }
    }
    this.requests++;
    const fault = this.#faultFor(request.url);
    if (fault) this.#play(fault, request, response, found);
    else send(request, response, found);
  }

  /** In what order things are asked for is nobody's choice, so it depends on what is asked for, and how often that was. */
  #faultFor(path) {
    const times = (this.#asked.get(path) ?? 0) + 1;
    this.#asked.set(path, times);
    if (!this.#failing) return undefined;
    const { fault, share } = this.#failing;
    return fault.kind === 'slow' || shareOf(`${times} ${path}`) < share ? fault : undefined;
  }

  #play(fault, request, response, found) {
    const path = request.url;
    const isTarball = found.isTarball && Buffer.isBuffer(found.body);
    const type = found.isTarball ? 'application/octet-stream' : 'application/json';
    switch (fault.kind) {
      case 'slow':
        setTimeout(() => send(request, response, found), fault.milliseconds * shareOf(`slow ${path}`));
        break;
      case 'reset':
        response.destroy();
        break;
      case 'hang':
        this.#hanging.push(response);
        break;
      case 'hang in body':
        this.#hanging.push(response);
        sendHalf(response, found, type);
        break;
      case 'status':
        if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter);
        response.writeHead(fault.status).end('{}');
        break;
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' }).end(HTML);
        break;
      case 'empty':
        response.writeHead(200, { 'content-type': type, 'content-length': 0 }).end();
        break;
      case 'half':
        // Of a length that says so: nothing but what is in it tells.
        response.writeHead(200, { 'content-type': type }).end(halfOf(found));
        break;
      case 'gzip garbage':
        response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(Buffer.alloc(200, 'garbage'));
        break;
      case 'circle':
        response.writeHead(302, { location: path }).end();
        break;
      case 'not modified':
        response.writeHead(304).end();
        break;
      case 'corrupt':
        if (isTarball) sendCorrupt(response, found.body, path);
        else send(request, response, found);
        break;
      case 'cut':
        if (isTarball) sendHalf(response, found, type, () => response.destroy());
        else send(request, response, found);
        break;
      default:
        throw new Error(`no such fault: ${fault.kind}`);
    }
  }
}

/** Half of what was asked for. */
function halfOf({ body = '{}' }) {
  const bytes = Buffer.from(body);
  return bytes.subarray(0, bytes.length / 2);
}

/** Promises all and sends half. */
function sendHalf(response, found, type, sent) {
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(found.body ?? '{}') });
  response.write(halfOf(found), sent);
}

function sendCorrupt(response, body, path) {
  const bytes = Buffer.from(body);
  bytes[Math.floor(shareOf(`corrupt ${path}`) * bytes.length)] ^= 0x11;
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes.length }).end(bytes);
}

function send(request, response, { body, isTarball }) {
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
