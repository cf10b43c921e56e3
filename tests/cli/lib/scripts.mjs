// Projects whose scripts write down that they ran.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Pair } from './pair.mjs';
import { Workspace } from './programs.mjs';

/** Lets all packages run scripts. */
export const all = '--dangerously-allow-all-scripts';
/** A script that writes down that it ran. */
export const record =
  "node -e \"require('fs').appendFileSync(process.env.SCRIPT_LOG, JSON.stringify({event: process.env.npm_lifecycle_event, name: process.env.npm_package_name, folder: process.cwd(), environment: process.env}) + '\\\\n')\"";

/** The manifest of a project. */
export const manifest = (dependencies, fields) => ({
  'package.json': { name: 'project', version: '1.0.0', dependencies, ...fields },
});

/** What scripts have written down, and a new sheet. */
export function recorded(workspace) {
  const log = workspace.environment.SCRIPT_LOG;
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  rmSync(log, { force: true });
  return lines.map((line) => JSON.parse(line));
}

/** A place whose scripts write down that they ran. */
export function place(context, suite) {
  const workspace = new Workspace(context, suite.registry);
  workspace.environment.SCRIPT_LOG = join(workspace.folder, 'script.log');
  return workspace;
}

/** Which scripts of which packages ran. */
export const events = (lines) => lines.map(({ event, name }) => `${name} ${event}`);

/** The warnings of a code. */
export const warned = (run, code) => run.lines.filter((line) => line.code === code).map(({ message }) => message);

/** The same project for both programs, whose scripts write down that they ran. */
export function pair(context, suite, files) {
  const both = new Pair(context, suite.registry, files);
  const { folder, environment, npmScript } = both.workspace;
  environment.SCRIPT_LOG = join(folder, 'script.log');
  // The npm that is the judge is the one that gantry finds.
  mkdirSync(join(folder, 'bin'));
  symlinkSync(npmScript, join(folder, 'bin', 'npm'));
  environment.PATH = `${join(folder, 'bin')}${delimiter}${environment.PATH}`;
  return both;
}

/** Runs both and gives what their scripts have written down, with one name for both projects. */
export function bothRecorded({ workspace, folders }, command, words, place = '') {
  const [ours, theirs] = folders;
  const run = (program, project) => {
    const ran = program(join(project, place));
    if (ran.status !== 0) throw new Error(`${ran.stdout}\n${ran.stderr}`);
    const known = (text) => text.replaceAll(project, '/project').replaceAll(`${dirname(project)}/`, '/parent/');
    return recorded(workspace).map((line) => JSON.parse(known(JSON.stringify(line))));
  };
  return [
    run((folder) => workspace.gantryIn(folder, command, ...words), ours),
    run((folder) => workspace.npm(folder, command, ...words), theirs),
  ];
}
