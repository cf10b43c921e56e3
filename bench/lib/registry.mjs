// The replay registry of crates/testkit as a child process: frozen unless it is given an upstream to record from.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { recordingFolder, registryCommand } from './paths.mjs';

/**
 * Counts since the last reset, as the registry gives them.
 * @typedef {{ requests: number, full_packuments: number, abbreviated_packuments: number, versions: number,
 *   tarballs: number, not_modified: number, misses: number, upstream_fetches: number, bytes: number,
 *   in_flight: number, max_in_flight: number, log?: { path: string, miss: boolean, status: number }[] }} Counts
 */

/** @typedef {{ latency?: number, bandwidth?: number, upstream?: string, recording?: string }} RegistryOptions */

export class Registry {
  /** @type {import('node:child_process').ChildProcess} */ #child;
  /** Address, ending with a slash. @type {string} */
  url;

  /** @param {import('node:child_process').ChildProcess} child @param {string} url */
  constructor(child, url) {
    this.#child = child;
    this.url = url;
  }

  /** Starts one on a free loopback port. It ends with this process. @param {RegistryOptions} [options] */
  static async start({ latency, bandwidth, upstream, recording = recordingFolder } = {}) {
    const words = ['--recording', recording, '--until-stdin-closes'];
    if (latency) words.push('--latency', String(latency));
    if (bandwidth) words.push('--bandwidth', String(bandwidth));
    if (upstream) words.push('--record', upstream);
    const child = spawn(registryCommand(), words, { stdio: ['pipe', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      return new Registry(child, JSON.parse(line).url);
    }
    throw new Error('the registry ended before it was ready');
  }

  /** @param {string} action @param {string} [method] */
  async #control(action, method = 'GET') {
    const answer = await fetch(`${this.url}-/gantry/${action}`, { method });
    if (!answer.ok) throw new Error(`the registry answered ${answer.status} to ${action}`);
    return answer.json();
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
