// The replay registry of crates/testkit as a child process: frozen unless it is given an upstream to record from.
import { spawn } from 'node:child_process';
import { request as overTcp } from 'node:http';
import { request as overTls } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { recordingFolder, registryCommand } from './paths.mjs';

/**
 * Counts since the last reset, as the registry gives them.
 * @typedef {{ requests: number, full_packuments: number, abbreviated_packuments: number, versions: number,
 *   tarballs: number, not_modified: number, misses: number, upstream_fetches: number, bytes: number,
 *   in_flight: number, max_in_flight: number, busy_microseconds: number, request_microseconds: number, log?: Entry[] }} Counts
 */

/** One request. `microseconds` last until its last byte was handed to the connection.
 * @typedef {{ path: string, kind: string, miss: boolean, status: number, started_microseconds: number,
 *   microseconds: number }} Entry */

/** `certificate`: speak TLS, offering HTTP/2, and write there what to trust.
 * @typedef {{ latency?: number, bandwidth?: number, upstream?: string, recording?: string, certificate?: string }} RegistryOptions */

export class Registry {
  /** @type {import('node:child_process').ChildProcess} */ #child;
  /** Address, ending with a slash. @type {string} */
  url;
  /** File with the certificate to trust, if it speaks TLS. @type {string | undefined} */
  certificate;
  /** The same as text. @type {string | undefined} */
  authority;

  /** @param {import('node:child_process').ChildProcess} child @param {{ url: string, certificate?: string }} ready
   * @param {string} [certificate] */
  constructor(child, ready, certificate) {
    this.#child = child;
    this.url = ready.url;
    this.authority = ready.certificate;
    this.certificate = certificate;
  }

  /** Starts one on a free loopback port. It ends with this process. @param {RegistryOptions} [options] */
  static async start({ latency, bandwidth, upstream, recording = recordingFolder, certificate } = {}) {
    const words = ['--recording', recording, '--until-stdin-closes'];
    if (latency) words.push('--latency', String(latency));
    if (bandwidth) words.push('--bandwidth', String(bandwidth));
    if (upstream) words.push('--record', upstream);
    if (certificate) words.push('--tls', '--certificate', certificate);
    const child = spawn(registryCommand(), words, { stdio: ['pipe', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      return new Registry(child, JSON.parse(line), certificate);
    }
    throw new Error('the registry ended before it was ready');
  }

  /** @param {string} action @param {string} [method] */
  async #control(action, method = 'GET') {
    const send = this.authority ? overTls : overTcp;
    const asked = send(`${this.url}-/gantry/${action}`, { method, ca: this.authority });
    const answer = await new Promise((resolve, reject) => asked.once('response', resolve).once('error', reject).end());
    const body = await text(answer);
    if (answer.statusCode !== 200) throw new Error(`the registry answered ${answer.statusCode} to ${action}: ${body}`);
    return JSON.parse(body);
  }

  async reset() {
    await this.#control('reset', 'POST');
  }

  /** @param {{ log?: boolean }} [options] @returns {Promise<Counts>} */
  async counts({ log = false } = {}) {
    return this.#control(log ? 'stats?log' : 'stats');
  }

  /** Resolves when the process has ended. */
  async close() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    await ended;
  }
}
