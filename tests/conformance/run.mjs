#!/usr/bin/env node
// The conformance suite: `npm run conformance` compares every project, `-- --subset` those of the short run, `-- --peers`
// the other installers as well, `-- <names>` these projects. `-- record` makes the recording, `-- verify` asks npm
// whether the frozen locks are still its own. The README beside this file says the rest.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { providePeers } from '../../bench/lib/peers.mjs';
import { buildNative } from '../../scripts/lib/native.mjs';
import { installDependencies } from '../../scripts/lib/npm.mjs';
import { gantryCommand } from '../../scripts/lib/paths.mjs';
import { run } from '../../scripts/lib/process.mjs';
import { check } from './lib/check.mjs';
import { readAbout, readLocks, unpackRecording } from './lib/data.mjs';
import { expectationsFile, explanationsFile, runsFolder } from './lib/places.mjs';
import { readProjects } from './lib/projects.mjs';
import { freeze, thaw } from './lib/recording/freeze.mjs';
import { readRawLocks, take } from './lib/recording/take.mjs';
import { report } from './lib/report.mjs';
import { forEach, inScratch, say, withRegistry } from './lib/work.mjs';

const today = () => new Date().toISOString().slice(0, 10);
const readJson = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {});

async function record({ refresh, offline }) {
  if (!offline) await providePeers();
  await inScratch(async (scratch) => {
    const projects = readProjects();
    const taken = offline ? readRawLocks(projects) : await take(projects, scratch, { refresh });
    await freeze(projects, taken, scratch, offline ? readAbout().recorded : today());
  });
}

async function verify(projects) {
  const { node, npm } = readAbout();
  if (node !== process.versions.node) say(`the locks were made for Node ${node}, this is ${process.versions.node}`);
  const changed = await inScratch((scratch) => thaw(projects, scratch));
  for (const { name, error } of changed)
    say(`${name}: npm now ${error ? `refuses with ${error}` : 'writes another lock'}`);
  if (changed.length > 0) throw new Error(`npm no longer writes ${changed.length} of the frozen locks`);
  say(`npm ${npm} still writes all ${projects.length} frozen locks`);
}

async function compare(projects, { withPeers, accept, keep }) {
  if (withPeers) await providePeers();
  const about = readAbout();
  const frozen = readLocks();
  const results = await inScratch(async (scratch) => {
    const recording = join(scratch, 'recording');
    unpackRecording(recording);
    return withRegistry({ recording }, ({ url }) =>
      forEach(projects, async (project) => {
        const lock = frozen.get(project.name);
        if (lock === undefined) throw new Error(`${project.name} is not recorded: npm run conformance -- record`);
        const result = await check(project, lock, { url, scratch, node: about.node, withPeers });
        say(`${project.name}: ${result.reached}`);
        return result;
      }),
    );
  });
  const gantry = (await run(gantryCommand, ['--version'], { output: 'quiet' })).trim().replace(/^gantry /, '');
  const text = report(results, { date: today(), about, gantry, explanations: readJson(explanationsFile) });
  process.stdout.write(text);
  if (keep) {
    mkdirSync(runsFolder, { recursive: true });
    writeFileSync(join(runsFolder, `${today()}.md`), text);
  }
  judgeChanges(results, accept);
}

/** A project that reaches less than expected is a regression; one that reaches more has to be written down. */
function judgeChanges(results, accept) {
  const expected = readJson(expectationsFile);
  const changed = results.filter(({ project, reached }) => expected[project.name] !== reached);
  for (const { project, reached } of changed) {
    say(`${project.name}: ${reached}, expected ${expected[project.name] ?? 'nothing yet'}`);
    if (accept) expected[project.name] = reached;
  }
  if (changed.length === 0) return;
  if (!accept) throw new Error(`${changed.length} projects are not as expected.json says; --accept writes it anew`);
  const sorted = Object.fromEntries(Object.entries(expected).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(expectationsFile, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      subset: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      accept: { type: 'boolean', default: false },
      refresh: { type: 'boolean', default: false },
      offline: { type: 'boolean', default: false },
    },
  });
  await installDependencies();
  await buildNative();
  const [command, ...names] = ['record', 'verify'].includes(positionals[0]) ? positionals : ['compare', ...positionals];
  const projects = readProjects(names).filter(({ subset }) => subset || !values.subset);
  if (command === 'record') await record(values);
  else if (command === 'verify') await verify(projects);
  else {
    const keep = names.length === 0 && !values.subset;
    await compare(projects, { withPeers: values.peers, accept: values.accept, keep });
  }
}

try {
  await main();
} catch (error) {
  say(error.constructor === Error ? error.message : error.stack);
  process.exitCode = 1;
}
