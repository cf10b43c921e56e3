// The browser bench from beginning to end: pages, registry, judge, then visit by visit, interleaved; a result written
// after every round, so that a crash loses nothing.
import { readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { provideBrowsers } from '../../../scripts/lib/browsers.mjs';
import { commit, load, machine } from '../machine.mjs';
import { benchFolder, say } from '../paths.mjs';
import { provideBrowserPeers, providePeers } from '../peers.mjs';
import { STALE_SECONDS } from '../phases.mjs';
import { run } from '../process.mjs';
import { projectNames, recordingStamp, upstreamRegistry } from '../record.mjs';
import { Registry } from '../registry.mjs';
import { resultsFolder, writeResults } from '../results.mjs';
import { Workspace } from '../workspace.mjs';
import { judgeInPage } from './judge.mjs';
import { gantryModuleDigest, gantryPackage } from './pages.mjs';
import { browserReport } from './report.mjs';
import { browserPhases, Visitor, visits } from './samples.mjs';
import { Site } from './site.mjs';
import { TARGET } from './target.mjs';
import { browserTools } from './tools.mjs';

const BENCH = 'browser';
/** How often a visit is repeated whose sample had to be thrown away. */
const REPEATS = 2;

/** What a session stands on, whether it measures or records.
 * @param {Record<string, any>} options of the command line @param {import('../registry.mjs').RegistryOptions} kind
 * @param {(tool: import('./tools.mjs').BrowserTool) => boolean} [suits] */
async function stage(options, kind, suits = () => true) {
  providePeers();
  provideBrowserPeers();
  const executables = await browsers();
  const tools = chosen(browserTools(versionOfGantry()), options.tools).filter(suits);
  for (const tool of tools) await tool.build?.();
  const workspace = Workspace.create(options.fs);
  const certificate = options.tls ? join(workspace.folder, 'registry.pem') : undefined;
  const registry = await Registry.start({ ...kind, certificate });
  const site = await new Site(tools).start();
  // As many as Gantry takes unless told, so that the floor has the same.
  const workers = Math.min(Math.max(cpus().length, 2), 4);
  const visitor = new Visitor({ site, registry, workspace, executables, workers });
  const end = async () => {
    await site.stop();
    await registry.close();
    workspace.remove();
  };
  return { executables, tools, workspace, registry, site, workers, visitor, end };
}

const projectsOf = (options) => options.projects?.split(',') ?? projectNames;
/** What is measured unless asked: the largest takes as long as all others together. */
const measuredProjects = (options) =>
  projectsOf(options).filter((project) => options.full || options.projects || project !== 'cra5');

/** Lets every installer ask once for what it wants, of a registry that fetches what it does not have: an installer that
 * picks other versions than npm must be able to have them. @param {Record<string, any>} options of the command line */
export async function recordInPages(options) {
  if (!recordingStamp()) throw new Error('record first what npm and the commands need: npm run bench -- record');
  const upstream = upstreamRegistry();
  const doesAsk = ({ name, phases }) => name !== 'gantry-again' && !phases;
  const { tools, workspace, registry, visitor, end } = await stage(options, { upstream }, doesAsk);
  const cold = browserPhases.filter(({ name }) => name === 'cold');
  try {
    for (const project of projectsOf(options)) {
      const judge = await judgeInPage(project, workspace, registry);
      for (const tool of tools) {
        say('record', `${project}: ${tool.name} installs in a page`);
        const outcomes = await visitor.visit(tool, { project, judge }, cold, () => undefined);
        const { fatal, failure } = outcomes.cold;
        if (fatal) say('record', `${tool.name} fails: ${failure}`);
      }
    }
  } finally {
    await end();
  }
}

/** @param {Record<string, any>} options of the command line */
export async function runBrowserSession(options) {
  const stamp = recordingStamp();
  if (!stamp) throw new Error('the recording is missing or of other projects: npm run bench -- record');
  const started = new Date();
  const network = { latency: Number(options.latency ?? 0), bandwidth: Number(options.bandwidth ?? 0) };
  const { executables, tools, workspace, registry, site, workers, visitor, end } = await stage(options, network);
  try {
    const result = {
      bench: BENCH,
      date: started.toISOString(),
      machine: machine(),
      commit: commit(dirname(benchFolder)),
      module: gantryModuleDigest(),
      browsers: await versionsOf(executables),
      fileSystem: workspace.fileSystem,
      recording: stamp,
      network: {
        latencyMs: network.latency,
        bitsPerSecond: network.bandwidth || 'unlimited',
        tls: Boolean(options.tls),
      },
      rounds: Number(options.rounds ?? (options.full ? 5 : 3)),
      full: Boolean(options.full),
      workers,
      target: TARGET,
      tools: tools.map(({ name, version, browser, headers = {}, slack, fewest, slow, remark }) => {
        return { name, version, browser, headers, slack, fewest, slow, remark, weight: undefined };
      }),
      projects: {},
    };
    const out = resultsFolder(options.out, started);
    const save = () => {
      for (const tool of result.tools) tool.weight = site.weight(tool.name);
      result.machine.loadAtEnd = load();
      writeResults(out, BENCH, result, browserReport(result));
    };
    const only = options.phases?.split(',');
    for (const project of measuredProjects(options)) {
      const judge = await judgeInPage(project, workspace, registry);
      const { placed, tarballs, samples } = judge.plain;
      say('judge', `${project}: ${placed.length} packages, ${samples.length} files sampled`);
      const record = { packages: placed.length, tarballs, addition: judge.addition.name, phases: {} };
      result.projects[project] = record;
      await new ProjectRounds({ visitor, tools, judge, project, record, result, only }).run(save);
    }
    say(BENCH, `written to ${out}`);
  } finally {
    await end();
  }
}

/** All rounds of one project. */
class ProjectRounds {
  /** Origins that were filled to age, by the tool. @type {Map<string, import('./samples.mjs').Filled>} */ #filled =
    new Map();

  constructor(fields) {
    Object.assign(this, fields);
    for (const { name } of visits.flatMap((visit) => this.#phases(visit))) {
      this.record.phases[name] = Object.fromEntries(
        this.tools.filter((tool) => takesPart(tool, name)).map((tool) => [tool.name, { samples: [], rejected: [] }]),
      );
    }
  }

  /** @param {() => void} save */
  async run(save) {
    await this.#prepareRegistry();
    const isAged = (visit) => this.#phases(visit).some(({ aged }) => aged);
    await this.#fill(visits.filter(isAged).flat());
    await this.#rounds(
      visits.filter((visit) => !isAged(visit)),
      save,
    );
    if (this.#filled.size === 0) return;
    await this.#waitForAge();
    await this.#rounds(visits.filter(isAged), save);
    for (const { profile } of this.#filled.values()) rmSync(profile, { recursive: true, force: true });
  }

  /** The registry shortens and compresses a document when it is first asked for it so, which npm, who was there before, does not
   * do: it would be the first sample that pays for it, by up to a second. */
  async #prepareRegistry() {
    const cold = browserPhases.filter(({ name }) => name === 'cold');
    const outcomes = await this.visitor.visit(this.tools[0], this, cold, () => undefined);
    if (outcomes.cold.failure) say('reject', `${this.project} before the rounds: ${outcomes.cold.failure}`);
  }

  /** @param {string[][]} chosen @param {() => void} save */
  async #rounds(chosen, save) {
    const { tools, result, project } = this;
    for (let round = 0; round < result.rounds; round++) {
      say(BENCH, `${project}: round ${round + 1} of ${result.rounds}`);
      const order = round % 2 === 0 ? tools : [...tools].reverse();
      for (const visit of chosen) {
        for (const tool of order) {
          if (tool.slow && round > 0 && !result.full) continue;
          await this.#visit(tool, visit, round);
        }
      }
      save();
    }
  }

  /** Before the first round: everybody's origin is filled for these phases, so that it ages meanwhile. @param {string[]} names */
  async #fill(names) {
    for (const name of names) {
      for (const tool of this.tools.filter((one) => takesPart(one, name))) {
        try {
          if (this.#filled.has(tool.name)) continue;
          this.#filled.set(tool.name, await this.visitor.fill(tool, this));
        } catch (error) {
          this.record.phases[name][tool.name].rejected.push(`cold: ${error.message}`);
          say('reject', `${this.project} ${name} ${tool.name}: ${error.message}`);
        }
      }
    }
  }

  async #waitForAge() {
    const youngest = Math.max(...[...this.#filled.values()].map(({ at }) => at));
    const wait = youngest + STALE_SECONDS * 1000 - Date.now();
    if (wait <= 0) return;
    say(BENCH, `waiting ${Math.ceil(wait / 1000)} s for what is stored to age`);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }

  /** The phases of these names that are measured. Later ones need the earlier; those that wait are for a full run. */
  #phases(names) {
    const waits = browserPhases.some(({ name, aged }) => aged && names.includes(name));
    if (waits && !this.result.full && !names.some((name) => this.only?.includes(name))) return [];
    const last = names.findLastIndex((name) => !this.only || this.only.includes(name));
    return names.slice(0, last + 1).map((name) => browserPhases.find((phase) => phase.name === name));
  }

  /** Repeats the visit while samples have to be thrown away. What fails in every attempt of the first round is not tried
   * again. */
  async #visit(tool, names, round) {
    const phases = this.#phases(names).filter(({ name }) => takesPart(tool, name) && !this.#gaveUp(tool, name, round));
    const filled = phases.some(({ aged }) => aged) ? this.#filled.get(tool.name) : undefined;
    if (phases.some(({ aged }) => aged) && !filled) return;
    const own = (name) => this.record.phases[name][tool.name];
    const failures = new Set();
    for (let attempt = 0; phases.length > 0 && attempt <= REPEATS; attempt++) {
      const outcomes = await this.visitor.visit(tool, this, phases, (name) => own(name).expected, { filled });
      let complete = true;
      for (const { name } of phases) {
        const { sample, traffic, failure } = outcomes[name] ?? { failure: undefined };
        const record = own(name);
        if (sample && !record.samples[round]) {
          record.samples[round] = sample;
          record.expected ??= traffic;
        } else if (!sample && !record.samples[round]) complete = false;
        if (failure) {
          record.rejected.push(failure);
          say('reject', `${this.project} ${name} ${tool.name}: ${failure}`);
        }
      }
      if (complete) return;
      const failed = Object.values(outcomes).find(({ failure }) => failure)?.failure;
      if (failed && failures.has(failed)) break; // twice the same would be so for ever
      failures.add(failed);
    }
    for (const { name } of phases) own(name).samples[round] ??= null;
  }

  #gaveUp(tool, name, round) {
    return round > 0 && !this.record.phases[name][tool.name].samples.some(Boolean);
  }
}

/** @param {import('./tools.mjs').BrowserTool} tool @param {string} phase */
const takesPart = (tool, phase) => !tool.phases || tool.phases.includes(phase);

/** @param {import('./tools.mjs').BrowserTool[]} tools @param {string} [wanted] */
function chosen(tools, wanted) {
  const names = wanted?.split(',');
  const always = ['gantry', 'gantry-again', 'floor'];
  return tools.filter(({ name }) => !names || always.includes(name) || names.includes(name));
}

async function browsers() {
  const { GANTRY_CHROMIUM, GANTRY_FIREFOX } = await provideBrowsers();
  return { chromium: GANTRY_CHROMIUM, firefox: GANTRY_FIREFOX };
}

/** @param {Record<string, string>} executables */
async function versionsOf(executables) {
  const versions = {};
  for (const [name, file] of Object.entries(executables)) {
    const text = await run({ command: [file, '--version'], cwd: benchFolder, environment: { HOME: '/nonexistent' } });
    versions[name] = text.trim().split('\n')[0];
  }
  return versions;
}

function versionOfGantry() {
  return JSON.parse(readFileSync(join(gantryPackage(), 'package.json'), 'utf8')).version;
}
