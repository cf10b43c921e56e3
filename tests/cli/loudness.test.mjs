// How much is said to people: npm's `loglevel`, wherever it is set.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fixturesForSuite, Workspace } from './lib/programs.mjs';

/** Its package is deprecated, which is worth a warning. */
const fields = { name: 'project', version: '1.0.0', dependencies: { deprecated: '1' } };

describe('how much is said', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  /** What an install in a project that has nothing yet says, line by line. */
  const said = (context, { words = [], npmrc = '', environment = {} } = {}) => {
    const workspace = new Workspace(context, suite.registry);
    Object.assign(workspace.environment, environment);
    const project = workspace.project('project', { 'package.json': fields, '.npmrc': npmrc });
    const { stdout, stderr } = workspace.gantryIn(project, 'install', ...words).succeeded();
    assert.equal(stdout, '', 'nothing was asked for');
    return stderr.split('\n').filter((line) => line !== '');
  };
  const loudnessOf = (lines) => ({
    warnings: lines.filter((line) => line.startsWith('warning ')).length,
    results: lines.filter((line) => /^1 package, .*lock written/.test(line)).length,
    lines: lines.length,
  });
  const all = { warnings: 1, results: 1, lines: 2 };
  const errors = { warnings: 0, results: 1, lines: 1 };
  const nothing = { warnings: 0, results: 0, lines: 0 };

  test('a level is that of the option, the environment or the project', (context) => {
    const loudness = (options) => loudnessOf(said(context, options));
    assert.deepEqual(loudness({}), all);
    assert.deepEqual(loudness({ words: ['--loglevel=error'] }), errors);
    assert.deepEqual(loudness({ words: ['-s'] }), nothing);
    assert.deepEqual(loudness({ words: ['--quiet'] }), all);
    assert.deepEqual(loudness({ npmrc: 'loglevel=error' }), errors);
    assert.deepEqual(loudness({ npmrc: 'loglevel=error', words: ['--verbose'] }), all);
    assert.deepEqual(loudness({ npmrc: 'loglevel=loud' }), all);
    // As `npm run --silent` hands it to what it runs.
    assert.deepEqual(loudness({ environment: { npm_config_loglevel: 'silent' } }), nothing);
  });

  test('deprecated packages are told of when they are put in place, as npm does', (context) => {
    const [ours, theirs] = [0, 1].map(() => new Workspace(context, suite.registry));
    const files = { 'package.json': { ...fields, devDependencies: { 'with-optional': '1' } } };
    const projects = [ours, theirs].map((workspace) => workspace.project('project', files));
    const deprecations = ({ stderr }, begins) =>
      stderr
        .split('\n')
        .filter((line) => line.startsWith(begins))
        .map((line) => line.slice(begins.length));
    const steps = [
      [['install', '--package-lock-only'], 0],
      [['install'], 1],
      [['install'], 0],
      [['install', 'left'], 0],
      [['ci'], 1],
      [['uninstall', 'deprecated'], 0],
      [['install', 'other@npm:deprecated@1'], 1],
      [['ci', '--omit=dev', '--loglevel=error'], 0],
    ];
    for (const [words, count] of steps) {
      const own = ours.gantryIn(projects[0], ...words).succeeded();
      const npm = theirs.npm(projects[1], ...words).succeeded();
      const told = deprecations(own, 'warning DEPRECATED: ');
      assert.deepEqual(told, deprecations(npm, 'npm warn deprecated '), words.join(' '));
      assert.equal(told.length, count, words.join(' '));
    }
  });

  test('of a command that fails a silent one gives the exit status alone, as npm does', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const broken = { ...fields, dependencies: { 'not-there': '1' } };
    const project = workspace.project('project', { 'package.json': broken, '.npmrc': 'loglevel=silent' });
    const silent = workspace.gantryIn(project, 'install');
    assert.deepEqual([silent.status, silent.stdout, silent.stderr], [1, '', '']);
    const npm = workspace.npm(project, 'install');
    assert.deepEqual([npm.status === 0, npm.stdout, npm.stderr], [false, '', '']);
    const told = workspace.gantryIn(project, 'install', '--loglevel=error');
    assert.equal(told.status, 1);
    assert.match(told.stderr, /not-there/);
  });

  test('a command that fails before any file is read heeds its own line', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const empty = join(workspace.folder, 'empty');
    mkdirSync(empty);
    const silent = workspace.gantryIn(empty, '--silent', 'ci', '--prefix', join(empty, 'not-there'));
    assert.deepEqual([silent.status, silent.stderr], [1, '']);
  });

  test('what was asked for is given however silent the command is', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', { 'package.json': fields, '.npmrc': 'loglevel=silent' });
    const install = workspace.gantryIn(project, 'install', '--timing', '--json').succeeded();
    assert.equal(install.stderr, '');
    assert.ok(install.lines.some(({ type }) => type === 'result'));
    assert.match(workspace.gantryIn(project, 'ci', '--timing').succeeded().stderr, /resolve|fetch/);
    assert.match(workspace.gantryIn(project, 'why', 'deprecated').succeeded().stdout, /deprecated@1/);
  });
});
