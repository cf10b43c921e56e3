// `gantry link`: a package that somebody works on is linked to for the whole machine, and in the projects that use it, as by npm.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing, Pair } from './lib/pair.mjs';
import { fixturesForSuite } from './lib/programs.mjs';

const tool = (name, fields) => ({ name, version: '1.0.0', dependencies: { left: '1' }, ...fields });

/** For each program a project, packages beside it, and a machine. */
class Bench {
  constructor(context, suite, files) {
    const pair = new Pair(context, suite.registry, {
      'project/package.json': { name: 'project', version: '1.0.0', dependencies: { right: '1' } },
      'tool/package.json': tool('@mine/tool', { bin: 'tool.js' }),
      'tool/tool.js': '#!/usr/bin/env node\n',
      'other/package.json': tool('other'),
      ...files,
    });
    this.workspace = pair.workspace;
    this.folders = pair.folders;
  }

  /** Runs both, each in a folder of its own. */
  both(inside, ...words) {
    const runs = this.folders.map((folder, index) => {
      const { workspace } = this;
      workspace.environment.npm_config_prefix = join(folder, 'machine');
      const place = join(folder, inside);
      return index ? workspace.npm(place, ...words) : workspace.gantryIn(place, ...words);
    });
    const [ours, theirs] = this.folders.map((folder) => listing(folder));
    assert.deepEqual(ours, theirs, `${inside}: ${words.join(' ')}\n${runs[0].stderr}`);
    return runs;
  }

  same(inside, ...words) {
    const [ours, theirs] = this.both(inside, ...words, '--ignore-scripts');
    theirs.succeeded();
    return ours.succeeded();
  }

  ours(...path) {
    return join(this.folders[0], ...path);
  }
}

describe('link', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  test('a project is linked to, and others link to it', (context) => {
    const bench = new Bench(context, suite);
    bench.same('project', 'install');
    bench.same('tool', 'link');
    assert.equal(readlinkSync(bench.ours('machine/lib/node_modules/@mine/tool')), '../../../../tool');
    assert.ok(existsSync(bench.ours('machine/bin/tool')));
    const before = readFileSync(bench.ours('project/package-lock.json'), 'utf8');
    bench.same('project', 'link', '@mine/tool');
    assert.equal(readlinkSync(bench.ours('project/node_modules/@mine/tool')), '../../../tool');
    assert.ok(existsSync(bench.ours('project/node_modules/.bin/tool')));
    assert.equal(readFileSync(bench.ours('project/package-lock.json'), 'utf8'), before);
    bench.same('project', 'ln', '@mine/tool', '../other');
    assert.deepEqual(readdirSync(bench.ours('machine/lib/node_modules')), ['@mine', 'other']);
    assert.ok(existsSync(bench.ours('project/node_modules/other/package.json')));
    bench.same('project', 'link', '--save-dev', 'other');
    assert.match(readFileSync(bench.ours('project/package.json'), 'utf8'), /"other": "file:..\/other"/);
    bench.same('project', 'install');
    bench.same('project', 'uninstall', '--global', '@mine/tool', 'other');
    assert.deepEqual(readdirSync(bench.ours('machine/bin')), []);
    assert.ok(existsSync(bench.ours('tool/tool.js')));
  });

  test('of a workspace it is the workspace, and of what is below a project the project', (context) => {
    const bench = new Bench(context, suite, {
      'many/package.json': { name: 'many', workspaces: ['packages/*'] },
      'many/packages/one/package.json': tool('one'),
      'tool/src/deep/index.js': '',
    });
    bench.same('many', 'install');
    bench.same('many/packages/one', 'link');
    bench.same('tool/src/deep', 'link');
    assert.deepEqual(readdirSync(bench.ours('machine/lib/node_modules')), ['@mine', 'one']);
  });

  test('what is installed for the whole machine is linked to, and what is not there is installed', (context) => {
    const bench = new Bench(context, suite, {
      'developed/package.json': tool('developed', { devDependencies: { 'peer-host': '1', 'with-optional': '*' } }),
    });
    bench.same('project', 'install', '--global', 'left@1.0.0');
    bench.same('project', 'link', 'left');
    assert.equal(readlinkSync(bench.ours('project/node_modules/left')), '../../machine/lib/node_modules/left');
    // What there is stays, whatever version is asked for.
    bench.same('project', 'link', '--save', 'left@1.1.0', 'right@1', '../developed');
    assert.deepEqual(readdirSync(bench.ours('machine/lib/node_modules')), ['developed', 'left', 'right']);
    assert.match(
      readFileSync(bench.ours('project/package.json'), 'utf8'),
      /"file:..\/machine\/lib\/node_modules\/left"/,
    );
    bench.same('project', 'install');
    bench.same('project', 'ci');
    bench.same('project', 'install', 'peer-host');
    bench.same('project', 'uninstall', 'peer-host');
    bench.same('project', 'link', '.');
    assert.equal(readlinkSync(bench.ours('machine/lib/node_modules/project')), '../../../project');
    // What folders elsewhere are developed with is nobody's affair here.
    rmSync(bench.ours('project/package-lock.json'));
    rmSync(bench.ours('project/node_modules'), { recursive: true });
    const run = bench.workspace.gantryIn(bench.ours('project'), 'install', '--json').succeeded();
    const { requests, folders } = run.lines.at(-1);
    assert.deepEqual({ requests, folders }, { requests: 0, folders: 3 });
  });

  test('what cannot be linked to is an error, and nothing is linked', (context) => {
    const bench = new Bench(context, suite, { 'nameless/package.json': {} });
    bench.same('tool', 'link');
    const before = listing(bench.folders[0]);
    const fault = (...words) => {
      bench.workspace.environment.npm_config_prefix = bench.ours('machine');
      const run = bench.workspace.gantryIn(bench.ours('project'), 'link', ...words, '--json');
      assert.equal(run.status, 1, run.stdout);
      assert.deepEqual(listing(bench.folders[0]), before, `${words}`);
      return run.lines.at(-1);
    };
    assert.equal(fault('@mine/tool', 'never-there').code, 'RESOLVE_PACKAGE_NOT_FOUND');
    assert.match(fault('--dry-run', 'right').hint, /Leave out --dry-run/);
    assert.match(fault('git+file:///nowhere/tool.git').hint, /Name it: <name>@git/);
    assert.equal(fault('../nameless').code, 'DEPENDENCY_NAMELESS');
    assert.equal(fault('../nowhere').code, 'DEPENDENCY_NAMELESS');
    assert.match(fault('--global', '@mine/tool').message, /link is for projects/);
  });
});
