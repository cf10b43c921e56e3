// Taking one sample, and throwing it away when it was not what it claims to be.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './paths.mjs';
import { proof } from './phases.mjs';
import { measure } from './process.mjs';
import { trusting } from './tools.mjs';

const REPEATS = 2;
/** Other trees than npm's may be a little smaller, never by much. */
const ALL_BUT_A_FEW = 0.9;

/** @typedef {import('./registry.mjs').Counts} Counts */
/** @typedef {{ requests: number, tarballs: number, packuments: number, bytes: number, misses: string[] }} Traffic */
/**
 * @typedef {object} Sample
 * @property {import('./process.mjs').Usage} usage
 * @property {Traffic} traffic
 * @property {number | undefined} warmedSecondsAgo
 * @property {number} files in the project's tree, 0 where nothing is installed
 * @property {string} output
 */
/** @typedef {{ sample?: Sample, rejected: string[] }} Outcome */

export class Sampler {
  /** @param {import('./registry.mjs').Registry} registry @param {string} scratch */
  constructor(registry, scratch) {
    this.registry = registry;
    this.scratch = scratch;
  }

  /** An unmeasured run that must succeed. @param {import('./phases.mjs').Subject} subject @param {import('./tools.mjs').Mode} mode */
  async runPlainly(subject, mode) {
    const { usage, output } = await this.#run(subject, mode);
    if (usage.status !== 0) throw new Error(`${subject.tool.name} (${mode}) failed: ${output.slice(-2000)}`);
  }

  /** @param {import('./phases.mjs').Subject} subject @param {import('./tools.mjs').Mode} mode */
  #run({ tool, folders }, mode) {
    const { url, certificate } = this.registry;
    const environment = { ...tool.environment(folders, url), ...trusting(certificate) };
    return measure({ command: tool.command(mode, folders, url), cwd: folders.project, environment }, this.scratch);
  }

  /**
   * Takes a sample; repeats it when it has to be rejected.
   * @param {import('./phases.mjs').Subject} subject
   * @param {import('./phases.mjs').Phase} phase
   * @param {Traffic} [expected] what the first, unmeasured sample caused
   * @returns {Promise<Outcome>}
   */
  async take(subject, phase, expected) {
    const rejected = [];
    for (let attempt = 0; attempt <= REPEATS; attempt++) {
      await phase.prepare(subject);
      const { warm } = subject;
      subject.workspace.emptyTrash();
      if (!expected) say('prep', proof(subject, phase));
      await this.registry.reset();
      const { usage, output } = await this.#run(subject, phase.mode);
      const traffic = await this.#traffic();
      if (phase.metadata || phase.tarballs) subject.warm = { mode: phase.mode, at: Date.now() };
      const fault = reasonToReject(usage, output, traffic, phase, subject, expected);
      if (!fault) {
        const warmedSecondsAgo = warm && Math.round((Date.now() - warm.at) / 1000);
        return { sample: { usage, traffic, warmedSecondsAgo, output, files: 0 }, rejected };
      }
      rejected.push(fault);
      say('reject', `${subject.project} ${phase.name} ${subject.tool.name}: ${fault}`);
    }
    return { rejected };
  }

  /** @returns {Promise<Traffic & { upstream: number }>} */
  async #traffic() {
    const counts = await this.registry.counts({ log: true });
    return {
      requests: counts.requests,
      tarballs: counts.tarballs,
      packuments: counts.full_packuments + counts.abbreviated_packuments,
      bytes: counts.bytes,
      misses: (counts.log ?? []).filter((entry) => entry.miss).map((entry) => entry.path),
      upstream: counts.upstream_fetches,
    };
  }
}

/** Why a sample does not count; `undefined` if it does. */
function reasonToReject(usage, output, traffic, phase, { tool, needed }, expected) {
  if (usage.status !== 0) return `exit status ${usage.status}: ${output.trim().slice(-400)}`;
  if (traffic.upstream > 0) return `${traffic.upstream} fetches from upstream`;
  const unknown = traffic.misses.filter((path) => !tool.knownMisses?.includes(path));
  if (unknown.length > 0) return `not in the recording: ${unknown.slice(0, 5).join(' ')}`;
  if (phase.metadata && traffic.packuments === 0) return 'no document was asked for: something was reused';
  if (phase.tarballs && traffic.tarballs === 0) return 'no tarball was asked for: something was reused';
  if (!phase.tarballs && traffic.tarballs > (tool.mayFetch?.[phase.name] ?? 0)) {
    return `${traffic.tarballs} tarballs asked for`;
  }
  if (phase.tarballs && traffic.tarballs < needed * ALL_BUT_A_FEW) {
    return `${traffic.tarballs} tarballs asked for where npm needs ${needed}: something was reused`;
  }
  if (!expected) return undefined;
  for (const what of ['tarballs', 'requests', 'bytes']) {
    // Where nothing is learned to be fetched, a share of it would allow nothing either.
    const basis = Math.max(expected[what], what === 'tarballs' ? needed : 0);
    const slack = tool.slack.find(({ phases }) => phases.includes(phase.name));
    const allowed = slack ? basis * slack[what] : 0;
    if (Math.abs(traffic[what] - expected[what]) > allowed) {
      return `${traffic[what]} ${what}, expected ${expected[what]}`;
    }
  }
  return undefined;
}

/** Keeps a lock for later phases. @param {import('./phases.mjs').Subject} subject */
export function rememberLock(subject) {
  const file = join(subject.folders.project, subject.tool.lock);
  if (existsSync(file)) subject.lock ??= readFileSync(file, 'utf8');
}
