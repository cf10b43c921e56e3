// One project under all tools: the judge first, then phase by phase, interleaved.
import { join } from 'node:path';
import { compare, readJudge } from './correctness.mjs';
import { say } from './paths.mjs';
import { putAwayToAge, STALE_SECONDS } from './phases.mjs';
import { projectManifest } from './record.mjs';
import { rememberLock } from './samples.mjs';
import { allTools } from './tools.mjs';
import { foldersFor, wipeAll } from './workspace.mjs';

export class ProjectBench {
  /** @type {import('../lib/phases.mjs').Subject[]} */ subjects;
  /** @type {import('../lib/correctness.mjs').Judge} */ #judge;

  constructor({ project, tools, workspace, sampler, full }) {
    this.full = full;
    this.project = project;
    this.workspace = workspace;
    this.sampler = sampler;
    this.subjects = tools.map((tool) => this.#subject(tool, tool.name));
  }

  #subject(tool, name) {
    const { project, workspace, sampler } = this;
    const folders = foldersFor(workspace, name, project);
    const subject = {
      tool,
      project,
      manifest: projectManifest(project),
      folders,
      workspace,
      needed: 0,
      kept: new Map(),
    };
    return Object.assign(subject, { run: (mode) => sampler.runPlainly(subject, mode) });
  }

  /** npm installs once, apart from everything that is measured. */
  async judge(record) {
    const tool = allTools({ copy: '' }).find(({ name }) => name === 'npm');
    const subject = this.#subject(tool, 'judge');
    wipeAll(this.workspace, subject.folders, subject.manifest);
    await subject.run('install');
    this.#judge = readJudge(subject.folders.project);
    record.packages = this.#judge.placed.length;
    record.tarballs = this.#judge.tarballs;
    for (const measured of this.subjects) measured.needed = this.#judge.tarballs;
    this.workspace.moveAside(join(this.workspace.folder, 'judge', this.project));
    this.workspace.emptyTrash();
    say('judge', `${this.project}: ${record.packages} packages, ${this.#judge.samples.length} files sampled`);
  }

  /** @param {import('../lib/phases.mjs').Phase} phase @param {number} rounds */
  async phase(phase, rounds, verdicts) {
    const results = {};
    if (phase.agedFrom) await this.#waitForAge(phase);
    for (const subject of this.subjects) {
      const { sample, rejected } = await this.sampler.take(subject, phase);
      results[subject.tool.name] = { expected: sample?.traffic, samples: [], rejected: [...rejected] };
      if (!sample) continue;
      if (phase.mode === 'install') rememberLock(subject);
      if (['p0', 'p3'].includes(phase.name)) {
        verdicts[subject.tool.name] ??= {};
        verdicts[subject.tool.name][phase.name] = compare(this.#judge, subject.folders.project);
      }
      const method = /linked by ([^;,(]+)/.exec(sample.output)?.[1].trim();
      if (method) results[subject.tool.name].linkMethod = method;
    }
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? this.subjects : [...this.subjects].reverse();
      for (const subject of order) {
        const own = results[subject.tool.name];
        if (!own.expected || (subject.tool.slow && round > 0 && !this.full)) continue;
        const { sample, rejected } = await this.sampler.take(subject, phase, own.expected);
        own.rejected.push(...rejected);
        const { usage, traffic, warmedSecondsAgo } = sample ?? {};
        own.samples[round] = sample
          ? { ...usage, requests: traffic.requests, tarballs: traffic.tarballs, bytes: traffic.bytes, warmedSecondsAgo }
          : null;
      }
    }
    return results;
  }

  /** Before the first of these phases: caches of those that want them old age while the others are measured.
   * @param {import('../lib/phases.mjs').Phase[]} phases */
  async putAwayToAge(phases) {
    for (const phase of phases.filter(({ agedFrom }) => agedFrom)) {
      for (const subject of this.subjects) await putAwayToAge(subject, phase);
    }
  }

  /** @param {import('../lib/phases.mjs').Phase} phase */
  async #waitForAge({ name }) {
    const youngest = Math.max(...this.subjects.map(({ kept }) => kept.get(name)?.at ?? 0));
    const wait = youngest + STALE_SECONDS * 1000 - Date.now();
    if (wait <= 0) return;
    say('native', `waiting ${Math.ceil(wait / 1000)} s for caches to age`);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
