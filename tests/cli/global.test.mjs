// What is installed for the whole machine (`--global`): gantry and npm put the same into two prefixes, step by step.
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
import { fixturesForSuite, Workspace } from './lib/programs.mjs';
import { Repository } from './lib/repository.mjs';
import { all, events, place, recorded, warned } from './lib/scripts.mjs';

/** Two prefixes, one for each program, and steps that change both. */
class Machines {
  constructor(context, suite, workspace = new Workspace(context, suite.registry)) {
    this.workspace = workspace;
    this.prefixes = ['gantry', 'npm'].map((program) => join(workspace.folder, program, 'machine'));
    this.options = ['--ignore-scripts'];
    this.here = workspace.project('here', {});
    for (const prefix of this.prefixes) mkdirSync(prefix, { recursive: true });
  }

  /** Writes a file below both prefixes. */
  write(path, text = '') {
    for (const prefix of this.prefixes) {
      mkdirSync(join(prefix, path, '..'), { recursive: true });
      writeFileSync(join(prefix, path), text);
    }
  }

  /** Runs both; gives what became of it. */
  both(words, here = this.here) {
    const runs = this.prefixes.map((prefix, index) => {
      const line = [...words, '--global', '--prefix', prefix];
      const run = index ? this.workspace.npm(here, ...line) : this.workspace.gantryIn(here, ...line);
      return Object.assign(run, { stdout: run.stdout.replaceAll(prefix, '/machine') });
    });
    const [ours, theirs] = this.prefixes.map((prefix) => listing(prefix));
    assert.deepEqual(ours, theirs, words.join(' '));
    return runs;
  }

  /** Runs both, which must end well and come to the same. Gives what ours has said. */
  same(words, here) {
    const [ours, theirs] = this.both([...words, ...this.options], here);
    theirs.succeeded();
    return ours.succeeded();
  }

  /** Runs both, which must fail and change nothing; ours with `code`. */
  fail(code, words, here) {
    const before = this.prefixes.map((prefix) => listing(prefix));
    const [ours, theirs] = this.both([...words, '--json', ...this.options], here);
    assert.notEqual(theirs.status, 0, `npm fails: ${words}`);
    assert.equal(ours.lines.at(-1)?.code, code, `${words}: ${ours.stdout}${ours.stderr}`);
    assert.deepEqual(
      this.prefixes.map((prefix) => listing(prefix)),
      before,
      'nothing has changed',
    );
    return ours.lines.at(-1);
  }

  /** Runs both, which must print the same and end the same. */
  print(words) {
    const [ours, theirs] = this.both(words);
    assert.equal(ours.stdout, theirs.stdout, `${words}\n${ours.stderr}`);
    assert.equal(ours.status, theirs.status, `${words}`);
    return ours.stdout;
  }

  /** What is below our prefix. */
  ours(...path) {
    return join(this.prefixes[0], ...path);
  }
}

describe('packages for the whole machine', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  test('each has what it needs in itself, and its commands in bin', (context) => {
    const machines = new Machines(context, suite);
    assert.match(machines.same(['install', 'right']).stderr, /in \S+\/gantry\/machine\/lib\/node_modules, /);
    assert.deepEqual(readdirSync(machines.ours()), ['bin', 'lib']);
    machines.same(['install', '@scope/middle', 'executable-command']);
    assert.deepEqual(readdirSync(machines.ours('bin')), ['middle', 'right', 'run']);
    assert.ok(existsSync(machines.ours('lib/node_modules/@scope/middle/node_modules/.bin/right')));
    machines.same(['i', 'peer-guest', 'with-optional', 'with-bundle', 'other@npm:left@1.0.0', 'peer-host@2']);
    assert.ok(existsSync(machines.ours('lib/node_modules/peer-guest/node_modules/peer-host')), 'its own peer');
    machines.same(['add', 'peer-host@1', 'peer-guest']);
    assert.ok(!existsSync(machines.ours('lib/node_modules/peer-guest/node_modules')), 'the one that comes with it');
    machines.same(['install', 'right', 'left@next']);
    for (const words of [['ls'], ['ls', '--json'], ['ls', '--all'], ['ls', 'left'], ['ls', '--parseable', '--long']]) {
      machines.print(words);
    }
    machines.same(['uninstall', 'right', '@scope/middle', 'never-there']);
    assert.deepEqual(readdirSync(machines.ours('bin')), ['run']);
    assert.ok(!existsSync(machines.ours('lib/node_modules/@scope')));
    machines.same(['rm', 'right']);
  });

  test('what is older is brought up to date', (context) => {
    const machines = new Machines(context, suite);
    machines.same(['install', 'left@1.0.0', 'peer-host@1', 'right']);
    assert.match(machines.print(['outdated']), /left +1\.0\.0 +1\.1\.0/);
    for (const words of [
      ['outdated', '--json'],
      ['outdated', 'peer-host'],
    ])
      machines.print(words);
    machines.same(['update', 'left', 'never-there']);
    machines.print(['ls']);
    machines.same(['update']);
    assert.equal(machines.print(['outdated']), '');
  });

  test('what is not theirs stays as it is', (context) => {
    const machines = new Machines(context, suite);
    machines.write('lib/node_modules/of-others/package.json', '{"name":"of-others","version":"1.0.0"}');
    machines.write('lib/node_modules/of-others/index.js', 'of others');
    machines.write('lib/node_modules/.hidden/file', 'hidden');
    machines.write('lib/package.json', '{"dependencies":{"peer-host":"1"}}');
    machines.write('bin/program', 'a program');
    machines.same(['install', 'right']);
    machines.same(['uninstall', 'right']);
    machines.same(['install', 'left']);
    machines.print(['ls']);
  });

  test('no package takes the place of a program', (context) => {
    const machines = new Machines(context, suite);
    machines.same(['install', 'right', 'executable-command']);
    machines.write('bin/middle', 'a program');
    const fault = machines.fail('COMMAND_TAKEN', ['install', '@scope/middle']);
    assert.match(fault.message, /\/bin\/middle is there already/);
    assert.match(fault.hint, /--force/);
    for (const prefix of machines.prefixes) rmSync(join(prefix, 'bin/middle'));
    for (const prefix of machines.prefixes) {
      symlinkSync('../lib/node_modules/right/cli.js', join(prefix, 'bin/middle'));
    }
    machines.fail('COMMAND_TAKEN', ['install', '@scope/middle']);
    machines.same(['install', '@scope/middle', '--force']);
  });

  test('a folder is linked to', (context) => {
    const machines = new Machines(context, suite);
    const { workspace } = machines;
    const folder = workspace.project('tool', {
      'package.json': { name: '@mine/tool', version: '1.0.0', bin: 'tool.js', dependencies: { left: '1' } },
      'tool.js': '#!/usr/bin/env node\n',
    });
    machines.same(['install'], folder);
    assert.ok(lstatSync(machines.ours('lib/node_modules/@mine/tool')).isSymbolicLink());
    machines.print(['ls']);
    machines.print(['ls', '--json']);
    const line = ['uninstall', '@mine/tool', '--dry-run', '--global', '--prefix', machines.ours()];
    assert.equal(workspace.gantryIn(machines.here, ...line).succeeded().stdout, 'remove @mine/tool 1.0.0\n');
    machines.same(['uninstall', '@mine/tool']);
    assert.ok(existsSync(join(folder, 'tool.js')));
    machines.same(['install', '../tool', 'left']);
    machines.same(['update']);
    machines.same(['install', '../tool', '--install-links']);
    assert.ok(existsSync(machines.ours('lib/node_modules/@mine/tool/node_modules/left')));
    machines.same(['install', '../tool']);
    machines.fail('DEPENDENCY_NAMELESS', ['install'], workspace.project('nothing', {}));
  });

  test('a dry run tells what would change', (context) => {
    const machines = new Machines(context, suite);
    machines.both(['install', 'right', '--dry-run']);
    assert.deepEqual(readdirSync(machines.ours()), []);
    machines.same(['install', 'right', 'left@1.0.0', 'peer-host']);
    machines.fail('RESOLVE_NO_MATCHING_VERSION', ['install', 'left@99', '--dry-run']);
    const { workspace } = machines;
    const told = (...words) =>
      workspace.gantryIn(machines.here, ...words, '-g', '--prefix', machines.ours(), '--dry-run').succeeded().stdout;
    assert.equal(
      told('install', 'left', '@scope/middle'),
      ['add @scope/middle 1.2.3', 'add left 1.0.0', 'add right 1.0.0', 'change left 1.0.0 => 1.1.0', ''].join('\n'),
    );
    assert.equal(told('uninstall', 'right'), 'remove right 1.0.0\n');
    assert.equal(told('uninstall', 'never-there'), '');
    machines.print(['ls']);
  });

  test('settings say where, but for those of the project', (context) => {
    const machines = new Machines(context, suite);
    const { workspace } = machines;
    const elsewhere = join(workspace.folder, 'elsewhere');
    const project = workspace.project('project', {
      'package.json': { dependencies: { 'peer-host': '1' } },
      '.npmrc': `registry=http://127.0.0.1:9/\nprefix=${workspace.folder}/wrong\n`,
    });
    const userconfig = workspace.environment.npm_config_userconfig;
    writeFileSync(userconfig, `prefix=${elsewhere}\n`);
    for (const option of ['-g', '--global', '--global=true', '--location=global']) {
      workspace.gantryIn(project, 'install', option, 'right').succeeded();
      assert.deepEqual(readdirSync(join(elsewhere, 'bin')), ['right'], option);
      rmSync(elsewhere, { recursive: true });
    }
    workspace.environment.npm_config_global = 'true';
    workspace.gantryIn(project, 'install', 'right').succeeded();
    assert.deepEqual(readdirSync(join(elsewhere, 'lib/node_modules')), ['right']);
    workspace.environment.npm_config_prefix = join(workspace.folder, 'third');
    workspace.gantryIn(project, 'install', 'right').succeeded();
    assert.deepEqual(readdirSync(join(workspace.folder, 'third', 'bin')), ['right']);
    delete workspace.environment.npm_config_global;
    delete workspace.environment.npm_config_prefix;
    assert.deepEqual(readdirSync(project), ['.npmrc', 'package.json'], 'the project is none of its business');

    writeFileSync(userconfig, '');
    const { PATH } = workspace.environment;
    workspace.environment.PATH = '/nowhere';
    const nowhere = workspace.gantryIn(project, 'install', '-g', 'right', '--json');
    assert.deepEqual([nowhere.status, nowhere.lines.at(-1).code], [1, 'PREFIX_UNKNOWN']);
    workspace.environment.PATH = PATH;
  });

  test('what it cannot be combined with is an error', (context) => {
    const machines = new Machines(context, suite);
    const { workspace } = machines;
    const project = workspace.project('project', {
      'package.json': {},
      'package-lock.json': { lockfileVersion: 3, packages: { '': {} } },
    });
    const code = (...words) =>
      workspace.gantryIn(project, ...words, '-g', '--prefix', machines.ours(), '--json').lines.at(-1).code;
    for (const command of ['ci', 'dedupe', 'prune']) assert.equal(code(command), 'CONFIG_UNSUPPORTED', command);
    assert.equal(code('install', 'left', '--package-lock-only'), 'CONFIG_INVALID');
    assert.equal(code('install', 'left', '--workspaces'), 'CONFIG_INVALID');
    machines.fail('RESOLVE_PACKAGE_NOT_FOUND', ['install', 'left', 'never-published']);
    machines.fail('RESOLVE_NO_MATCHING_VERSION', ['install', 'no-such-version']);
    machines.fail('RESOLVE_NO_MATCHING_VERSION', ['install', 'conflicting-peer']);
    assert.deepEqual(readdirSync(project).sort(), ['package-lock.json', 'package.json']);
  });
});

describe('scripts of packages for the whole machine', { concurrency: 1 }, () => {
  const suite = fixturesForSuite('scripts');

  test('those run that the line or a file of settings allows', (context) => {
    const workspace = place(context, suite);
    const machines = new Machines(context, suite, workspace);
    const [ours, theirs] = machines.prefixes;
    const gantry = (...words) =>
      workspace.gantryIn(machines.here, ...words, '-g', '--prefix', ours, '--json').succeeded();

    const [told] = warned(gantry('install', 'recorder'), 'SCRIPTS_NOT_RUN');
    assert.match(told, /recorder@1\.1\.0\. .*--allow-scripts=recorder/);
    assert.deepEqual(recorded(workspace), []);

    const run = gantry('install', 'recorder@1.0.0', '--allow-scripts=recorder');
    assert.deepEqual(warned(run, 'SCRIPTS_NOT_RUN'), []);
    const lines = recorded(workspace);
    workspace.npm(machines.here, 'install', '-g', '--prefix', theirs, 'recorder@1.0.0').succeeded();
    const beside = recorded(workspace);
    assert.deepEqual(events(lines), events(beside));
    assert.deepEqual(listing(ours), listing(theirs));
    const known = (line, prefix) => {
      const names = [
        'npm_config_global',
        'npm_config_global_prefix',
        'npm_config_prefix',
        'npm_config_local_prefix',
        'INIT_CWD',
        'npm_command',
      ];
      return JSON.parse(
        JSON.stringify([line.folder, names.map((name) => line.environment[name])]).replaceAll(prefix, '/machine'),
      );
    };
    assert.deepEqual(
      lines.map((line) => known(line, ours)),
      beside.map((line) => known(line, theirs)),
    );

    writeFileSync(workspace.environment.npm_config_userconfig, 'allow-scripts=builder\n');
    gantry('install', 'builder');
    assert.ok(existsSync(machines.ours('lib/node_modules/builder/built')));
    gantry('install', 'builder', '--allow-scripts=recorder');
    assert.ok(!existsSync(machines.ours('lib/node_modules/builder/built')), 'the line counts alone');
  });

  test('what is built in its repository is built there', (context) => {
    const workspace = place(context, suite);
    const machines = new Machines(context, suite, workspace);
    const made = new Repository(join(workspace.folder, 'repository'));
    made.write({
      'package.json': {
        name: 'built',
        version: '1.0.0',
        bin: 'built.js',
        files: ['built.js'],
        scripts: { prepare: 'tool && echo "#!/usr/bin/env node" > built.js' },
        devDependencies: { tool: '1' },
      },
      '.gitignore': 'built.js\n',
    });
    made.commit('first');
    const address = `git+file://${made.folder}`;
    const line = ['install', '--global', address, `--allow-scripts=${address}`];
    workspace.gantryIn(machines.here, ...line, '--prefix', machines.ours()).succeeded();
    // npm installs what that needs for the whole machine, too.
    const beside = workspace.npm(machines.here, ...line, '--prefix', machines.prefixes[1]);
    assert.match(beside.stderr, /tool: not found/);
    assert.ok(existsSync(machines.ours('bin/built')));
    assert.deepEqual(readdirSync(machines.ours('lib/node_modules')), ['built']);
  });

  test('a script that fails has everything stay as it was', (context) => {
    const workspace = place(context, suite);
    const machines = new Machines(context, suite, workspace);
    const prefix = machines.ours();
    const gantry = (...words) => workspace.gantryIn(machines.here, ...words, '-g', '--prefix', prefix, '--json');
    gantry('install', 'recorder', 'tool', '--ignore-scripts').succeeded();
    const before = listing(prefix);
    const run = gantry('install', 'failing', 'recorder@1.0.0', 'builder', all);
    assert.deepEqual([run.status, run.lines.at(-1).code], [1, 'SCRIPT_FAILED']);
    assert.deepEqual(listing(prefix), before);

    const without = gantry('install', 'with-optional-failing', all).succeeded();
    assert.match(warned(without, 'SCRIPT_FAILED')[0], /^optional failing@1\.0\.0 left out with beside-failing/);
    const modules = machines.ours('lib/node_modules/with-optional-failing/node_modules');
    assert.deepEqual(
      readdirSync(modules).filter((name) => !name.startsWith('.')),
      ['builder'],
    );
    assert.ok(existsSync(join(modules, 'builder/built')));
    // What scripts have changed is nobody else’s.
    assert.match(workspace.gantry('store', 'verify').succeeded().stdout, /^\d+ packages are whole\n$/);
    assert.equal(readFileSync(join(modules, 'builder/index.js'), 'utf8'), 'module.exports = 1\n// built\n');
  });
});
