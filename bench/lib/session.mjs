// What benches of whole installs share: peers, a frozen registry, folders, tools, and a result written phase by phase.
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commit, load, machine } from './machine.mjs';
import { benchFolder, gantryCommand, say } from './paths.mjs';
import { providePeers } from './peers.mjs';
import { FRESH_SECONDS, phases, STALE_SECONDS } from './phases.mjs';
import { run } from './process.mjs';
import { ProjectBench } from './project-bench.mjs';
import { recordingStamp } from './record.mjs';
import { Registry } from './registry.mjs';
import { resultsFolder, writeResults } from './results.mjs';
import { Sampler } from './samples.mjs';
import { allTools, settings } from './tools.mjs';
import { Workspace } from './workspace.mjs';

/**
 * @typedef {object} Session
 * @property {string} bench name of the result
 * @property {string[]} projects
 * @property {string[]} phases
 * @property {string[]} [tools] all unless given
 * @property {(result: any) => { text: string, charts: Record<string, string> }} report
 */

/** Runs the phases over the projects. @param {Session} session @param {Record<string, any>} options of the command line */
export async function runSession({ bench, projects, phases: chosen, tools: wanted, report }, options) {
  const stamp = recordingStamp();
  if (!stamp) throw new Error('the recording is missing or of other projects: npm run bench -- record');
  providePeers();
  const started = new Date();
  const rounds = Number(options.rounds ?? (options.full ? 5 : 3));
  const latency = Number(options.latency ?? 0);
  const bandwidth = Number(options.bandwidth ?? 0);
  const workspace = Workspace.create(options.fs);
  const certificate = options.tls ? join(workspace.folder, 'registry.pem') : undefined;
  const registry = await Registry.start({ latency, bandwidth, certificate });
  try {
    const copy = join(workspace.folderFor('bin'), 'gantry');
    copyFileSync(gantryCommand(), copy);
    const tools = allTools({ copy, limited: bandwidth > 0 }).filter(
      ({ name }) => !wanted || name.startsWith('gantry') || wanted.includes(name),
    );
    for (const tool of tools) if (tool.name.startsWith('gantry')) tool.version = await gantryVersion();
    const result = {
      bench,
      date: started.toISOString(),
      machine: machine(),
      commit: commit(dirname(benchFolder)),
      binary: createHash('sha256').update(readFileSync(gantryCommand())).digest('hex').slice(0, 16),
      fileSystem: workspace.fileSystem,
      recording: stamp,
      network: { latencyMs: latency, bitsPerSecond: bandwidth || 'unlimited', tls: Boolean(options.tls) },
      rounds,
      full: Boolean(options.full),
      freshSeconds: FRESH_SECONDS,
      staleSeconds: STALE_SECONDS,
      tools: settings(tools),
      projects: {},
    };
    const out = resultsFolder(options.out, started);
    for (const project of projects) {
      const sampler = new Sampler(registry, workspace.folder);
      const projectBench = new ProjectBench({ project, tools, workspace, sampler, full: options.full });
      const record = { packages: 0, phases: {}, verdicts: {} };
      result.projects[project] = record;
      await projectBench.judge(record);
      const wantedPhases = phases.filter(({ name }) => chosen.includes(name));
      await projectBench.putAwayToAge(wantedPhases);
      // Those last, for which something has to grow old.
      const ordered = [...wantedPhases].sort((a, b) => Number(Boolean(a.agedFrom)) - Number(Boolean(b.agedFrom)));
      for (const phase of ordered) {
        say(bench, `${project} ${phase.name}: ${phase.what}`);
        record.phases[phase.name] = await projectBench.phase(phase, rounds, record.verdicts);
        result.machine.loadAtEnd = load();
        writeResults(out, bench, result, report(result));
      }
      for (const tool of tools) workspace.moveAside(join(workspace.folder, tool.name, project));
      workspace.emptyTrash();
    }
    say(bench, `written to ${out}`);
  } finally {
    await registry.close();
    workspace.remove();
  }
}

async function gantryVersion() {
  const text = await run({ command: [gantryCommand(), '--version'], cwd: benchFolder, environment: {} });
  return text.trim().split(' ').at(-1) ?? '';
}
