// Scripts of packages, of folders that links lead to and of the project: which of them run, where and with what environment.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
import { fixturesForSuite } from './lib/programs.mjs';
import { all, bothRecorded, events, manifest, pair, place, record, recorded, warned } from './lib/scripts.mjs';

describe('scripts', { concurrency: 1 }, () => {
  const suite = fixturesForSuite('scripts');

  test('of packages run as those of npm do, in the same order and environment', (context) => {
    const both = pair(context, suite, {
      ...manifest({ recorder: '1.0.0', other: 'npm:recorder@1.1.0' }, { devDependencies: { tool: '1' } }),
      '.npmrc': 'some_host=there\nstrict-peer-deps=false\nsave-exact=true\n//registry.example/:_authToken=secret\n',
    });
    for (const [command, ...words] of [['install'], ['ci'], ['install', '--save-dev', 'with-gyp']]) {
      const [ours, theirs] = bothRecorded(both, command, [all, '--foreground-scripts', ...words]);
      assert.deepEqual(events(ours), events(theirs), command);
      const count = words.length > 0 ? 1 : 4;
      assert.equal(ours.length, count, command);
      for (const [index, { folder, event, environment }] of ours.entries()) {
        assert.equal(folder, theirs[index].folder);
        const difference = {};
        const expected = theirs[index].environment;
        for (const name of new Set([...Object.keys(environment), ...Object.keys(expected)])) {
          if (environment[name] !== expected[name]) difference[name] = [environment[name], expected[name]];
        }
        // What npm says of itself, of what it has for nobody else, and of the terminal.
        const agent = difference.npm_config_user_agent;
        assert.ok(agent[0].startsWith(`${agent[1]} gantry/`), agent[0]);
        const own = ['user_agent', 'init_module', 'allow_scripts', 'noproxy'].map((name) => `npm_config_${name}`);
        for (const name of [...own, 'COLOR', 'EDITOR']) delete difference[name];
        for (const name of Object.keys(difference)) {
          // Where npm goes by a lock it has no more of a package than that says.
          if (command === 'ci' && name.startsWith('npm_package_config_')) delete difference[name];
        }
        assert.deepEqual(difference, {}, `${command} ${event}`);
        assert.ok(!JSON.stringify(environment).includes('secret'));
      }
    }
  });

  test('of a package find what those before it have made', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ second: '1' }));
    const run = workspace.gantryIn(project, 'install', all, '--json').succeeded();
    assert.deepEqual(run.lines.at(-1).scriptsRun, ['first@1.0.0', 'second@1.0.0']);
  });

  test('run where they are allowed to, and others are named', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ recorder: '1.1.0', builder: '1' }));
    const allow = (allowScripts) =>
      writeFileSync(
        join(project, 'package.json'),
        JSON.stringify({ ...manifest({ recorder: '1.1.0', builder: '1' })['package.json'], allowScripts }),
      );
    const ran = (...words) => {
      const run = workspace.gantryIn(project, 'ci', '--json', ...words).succeeded();
      const { scripts, scriptsRun } = run.lines.at(-1);
      assert.equal(warned(run, 'SCRIPTS_NOT_RUN').length, scripts.length > 0 && !words.length ? 1 : 0);
      return [scriptsRun, scripts];
    };
    const both = ['builder@1.0.0', 'recorder@1.1.0'];
    const [builder, recorder] = both.map((name) => [name]);
    workspace.gantryIn(project, 'install', '--lockfile-only').succeeded();
    assert.deepEqual(ran(), [[], both]);
    const [told] = warned(workspace.gantryIn(project, 'install', '--json').succeeded(), 'SCRIPTS_NOT_RUN');
    assert.match(
      told,
      /: builder@1\.0\.0, recorder@1\.1\.0\. .*\{"builder@1\.0\.0":true\}; .*`gantry rebuild`.* say false:/,
    );
    allow({ recorder: true, 'builder@1.0.1': true });
    assert.deepEqual(ran(), [recorder, builder]);
    allow({ 'recorder@1.0.0 || 1.1.0': true, builder: false });
    assert.deepEqual(ran(), [recorder, []]);
    assert.deepEqual(ran('--ignore-scripts'), [[], both]);
    assert.deepEqual(ran(all), [both, []]);
    allow(undefined);
    writeFileSync(join(project, '.npmrc'), 'allow-scripts=builder, recorder@1.0.0\n');
    assert.deepEqual(ran(), [builder, recorder]);
    writeFileSync(join(project, '.npmrc'), 'ignore-scripts=true\n');
    assert.equal(workspace.gantryIn(project, 'ci').succeeded().stderr.includes('SCRIPTS_NOT_RUN'), false);
  });

  test('what allows nothing is said, and so is what a project does not take', (context) => {
    const workspace = place(context, suite);
    const allowScripts = { 'builder@^1.0.0': true, 'recorder@latest': true, tool: 'yes', first: true };
    const project = workspace.project('project', {
      ...manifest({ builder: '1' }, { allowScripts }),
      '.npmrc': 'allow-scripts=builder\n',
    });
    const run = workspace.gantryIn(project, 'install', '--json').succeeded();
    const [first, second, third] = warned(run, 'CONFIG_INVALID');
    assert.match(first, /builder@\^1\.0\.0: .*exact versions/);
    assert.match(second, /recorder@latest: /);
    assert.match(third, /tool: say true or false/);
    assert.equal(warned(run, 'CONFIG_IGNORED').length, 1);
    assert.deepEqual(run.lines.at(-1).scriptsRun, []);
    for (const words of [['--allow-scripts=builder'], ['--strict-allow-scripts']]) {
      const refused = workspace.gantryIn(project, 'ci', '--json', ...words);
      assert.equal(refused.status, 1);
      assert.match(
        refused.lines.at(-1).code,
        words[0].startsWith('--allow') ? /^CONFIG_INVALID$/ : /^SCRIPTS_UNREVIEWED$/,
      );
      assert.notEqual(workspace.npm(project, 'ci', ...words).status, 0);
    }
    workspace.gantryIn(project, 'ci', '--strict-allow-scripts', '--ignore-scripts').succeeded();
  });

  test('what a tarball carries has no say, whatever it is called', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ carrier: '1' }, { allowScripts: { builder: true } }));
    assert.deepEqual(workspace.gantryIn(project, 'install', '--json').succeeded().lines.at(-1).scriptsRun, []);
    assert.deepEqual(workspace.gantryIn(project, 'ci', all, '--json').succeeded().lines.at(-1).scriptsRun, []);
  });

  test('packages are built by node-gyp unless they object', (context) => {
    const both = pair(context, suite, manifest({ 'with-gyp': '1', 'against-gyp': '1' }));
    const [ours, theirs] = bothRecorded(both, 'install', [all]);
    assert.deepEqual(events(ours), ['with-gyp install']);
    assert.deepEqual(events(theirs), events(ours));
    assert.equal(ours[0].environment.npm_lifecycle_script, 'node-gyp rebuild');
  });

  test('what they change is not changed for other projects, and stays', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ builder: '1' }));
    const built = join(project, 'node_modules', 'builder', 'built');
    const source = (folder) => readFileSync(join(folder, 'node_modules', 'builder', 'index.js'), 'utf8');
    const clean = 'module.exports = 1\n';
    // Shared with the store at first.
    workspace.gantryIn(project, 'install').succeeded();
    assert.equal(existsSync(built), false);
    writeFileSync(
      join(project, 'package.json'),
      JSON.stringify({ ...manifest({ builder: '1' }, { allowScripts: { builder: true } })['package.json'] }),
    );
    const { scriptsRun } = workspace.gantryIn(project, 'rebuild', '--json').succeeded().lines.at(-1);
    assert.deepEqual(scriptsRun, ['builder@1.0.0']);
    assert.equal(source(project), `${clean}// built\n`);
    for (const words of [['install'], ['install', 'tool'], ['uninstall', 'tool'], ['update'], ['dedupe'], ['prune']]) {
      workspace.gantryIn(project, ...words).succeeded();
      assert.ok(existsSync(built), words.join(' '));
      assert.equal(source(project), `${clean}// built\n`, words.join(' '));
    }
    workspace.gantryIn(project, 'ci').succeeded();
    assert.equal(source(project), `${clean}// built\n`);
    const other = workspace.project('other', manifest({ builder: '1' }));
    workspace.gantryIn(other, 'install').succeeded();
    assert.equal(source(other), clean);
    assert.equal(workspace.gantry('store', 'verify').succeeded().stdout, '2 packages are whole\n');
  });

  test('rebuild runs what is allowed of what is named', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project(
      'project',
      manifest({ recorder: '1.0.0', other: 'npm:recorder@1.1.0', builder: '1' }, { allowScripts: { recorder: true } }),
    );
    const missing = workspace.gantryIn(project, 'rebuild', '--json');
    assert.deepEqual([missing.status, missing.lines.at(-1).code], [1, 'TREE_UNKNOWN']);
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const rebuilt = (...words) => {
      const run = workspace.gantryIn(project, 'rebuild', '--json', ...words).succeeded();
      return [events(recorded(workspace)), warned(run, 'SCRIPTS_NOT_RUN').length];
    };
    const [long, short] = [['recorder preinstall', 'recorder install', 'recorder postinstall'], ['recorder install']];
    assert.deepEqual(rebuilt('recorder'), [long, 0]);
    assert.deepEqual(rebuilt('other'), [short, 0]);
    assert.deepEqual(rebuilt('recorder@1.0'), [long, 0]);
    const [everything, unreviewed] = rebuilt();
    assert.deepEqual([everything.toSorted(), unreviewed], [[...long, ...short].toSorted(), 1]);
    assert.deepEqual(rebuilt('--ignore-scripts'), [[], 0]);
    for (const [name, code] of [
      ['nothing', 'PACKAGE_UNKNOWN'],
      ['recorder@1.1', 'PACKAGE_UNKNOWN'],
      ['./folder', 'CONFIG_INVALID'],
      ['recorder@next', 'CONFIG_INVALID'],
    ]) {
      const failed = workspace.gantryIn(project, 'rebuild', name, '--json');
      assert.deepEqual([failed.status, failed.lines.at(-1).code], [1, code], name);
    }
    workspace.npm(project, 'ls').succeeded();
  });

  test('of the project run last, to be seen, and stdout stays data', (context) => {
    const scripts = Object.fromEntries(
      ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare', 'test'].map(
        (event) => [event, record],
      ),
    );
    const both = pair(
      context,
      suite,
      manifest({ tool: '1' }, { scripts: { ...scripts, postinstall: `tool && echo printed && ${record}` } }),
    );
    for (const words of [
      ['install'],
      ['ci'],
      ['install', 'builder'],
      ['update'],
      ['uninstall', 'builder'],
      ['install'],
    ]) {
      const [ours, theirs] = bothRecorded(both, words[0], words.slice(1));
      assert.deepEqual(events(ours), events(theirs), words.join(' '));
      assert.equal(ours.length, words.length === 1 && words[0] !== 'update' ? 7 : 0);
      for (const { environment, folder } of ours) {
        assert.deepEqual([folder, environment.npm_command, environment.INIT_CWD], ['/project', words[0], '/project']);
      }
    }
    const {
      workspace,
      folders: [project],
    } = both;
    const plain = workspace.gantryIn(project, 'install').succeeded();
    assert.match(plain.stdout, /^\n> project@1\.0\.0 postinstall\n> tool && echo printed && .*\n\nprinted\n/m);
    const data = workspace.gantryIn(project, 'install', '--json').succeeded();
    assert.equal(data.lines.at(-1).type, 'result');
    assert.match(data.stderr, /\nprinted\n/);
    for (const words of [['--ignore-scripts'], ['--lockfile-only'], ['--dry-run']]) {
      recorded(workspace);
      workspace.gantryIn(project, 'install', ...words).succeeded();
      assert.deepEqual(recorded(workspace), [], words[0]);
    }
  });

  test('of workspaces run each time, those of other folders where they are allowed to', (context) => {
    const scripts = Object.fromEntries(
      ['preinstall', 'prepare', 'install', 'postinstall', 'test'].map((event) => [event, record]),
    );
    const folder = (name, fields) => ({ name, version: '1.0.0', scripts, ...fields });
    const both = pair(context, suite, {
      ...manifest({ lib: 'file:lib' }, { workspaces: ['packages/*'], allowScripts: { 'file:lib': true } }),
      'packages/a/package.json': folder('a', { dependencies: { builder: '1' } }),
      'packages/b/package.json': folder('b'),
      'lib/package.json': folder('lib'),
    });
    const order = (lines) => lines.map(({ event, name, folder }) => `${name} ${event} ${folder}`);
    for (const words of [['install'], ['install'], ['ci'], ['install', 'tool'], ['prune']]) {
      const [ours, theirs] = bothRecorded(both, words[0], ['--foreground-scripts', ...words.slice(1)]);
      assert.equal(ours.length, 12, words.join(' '));
      assert.deepEqual(order(ours), order(theirs), words.join(' '));
    }
    const [ours, theirs] = bothRecorded(both, 'install', ['--foreground-scripts', '--workspace=b']);
    assert.deepEqual(order(ours), order(theirs));
    const denied = { ...manifest({ lib: 'file:lib' }, { workspaces: ['packages/*'] }) };
    writeFileSync(join(both.folders[0], 'package.json'), JSON.stringify(denied['package.json']));
    const run = both.workspace.gantryIn(both.folders[0], 'install', '--json').succeeded();
    assert.deepEqual(new Set(recorded(both.workspace).map(({ name }) => name)), new Set(['a', 'b']));
    assert.match(warned(run, 'SCRIPTS_NOT_RUN').at(-1), /lib \(preinstall, prepare, install, postinstall\)/);
  });

  test('keep what they write into manifests that dependencies are added to', (context) => {
    const edit = `
const { readFileSync, writeFileSync } = require('node:fs');
for (const path of ['../package.json', '../part/package.json']) {
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.scripts = { ...manifest.scripts, made: 'true' };
  manifest.dependencies = { ...manifest.dependencies, second: '1.0.0' };
  writeFileSync(path, JSON.stringify(manifest, null, 2) + '\\n');
}
`;
    const both = pair(context, suite, {
      ...manifest({}, { workspaces: ['part'], description: 'a project' }),
      'part/package.json': { name: 'part', version: '1.0.0' },
      'tool/package.json': { name: 'tool', version: '1.0.0', scripts: { postinstall: 'node edit.js' } },
      'tool/edit.js': edit,
    });
    const [ours, theirs] = both.folders;
    for (const words of [
      ['./tool', 'first'],
      ['first', '--workspace', 'part'],
    ]) {
      both.workspace.gantryIn(ours, 'install', ...words, all).succeeded();
      both.workspace.npm(theirs, 'install', ...words).succeeded();
      for (const path of ['package.json', 'part/package.json']) {
        assert.equal(
          readFileSync(join(ours, path), 'utf8'),
          readFileSync(join(theirs, path), 'utf8'),
          `${words} ${path}`,
        );
      }
    }
    assert.match(readFileSync(join(ours, 'package.json'), 'utf8'), /"made": "true"/);
  });

  test('of folders make commands that are linked to, as by npm', (context) => {
    const make = "mkdir dist && echo '#!/usr/bin/env node' > dist/run.js";
    const folder = (name, scripts) => ({ name, version: '1.0.0', bin: { [name]: 'dist/run.js' }, scripts });
    const both = pair(context, suite, {
      ...manifest({ lib: 'file:lib', tool: '1' }, { workspaces: ['a'], scripts: { prepare: 'a && lib' } }),
      'a/package.json': folder('a', { prepare: make, postinstall: 'a && test ! -e ../fail' }),
      'lib/package.json': folder('lib', { preinstall: make, install: 'lib' }),
    });
    const { workspace, folders } = both;
    const [ours, theirs] = folders;
    const clear = (...paths) => {
      for (const project of folders) {
        for (const path of paths) rmSync(join(project, path), { recursive: true, force: true });
      }
    };
    const commands = ['.bin/a', '.bin/lib'].map((path) => join('node_modules', path));
    for (const [removed, ...words] of [
      [[], 'install'],
      [['node_modules'], 'ci'],
      [[], 'install'],
      [commands, 'install', 'builder'],
      [commands, 'rebuild'],
      [commands, 'rebuild', 'a'],
    ]) {
      clear('a/dist', 'lib/dist', ...removed);
      workspace.gantryIn(ours, ...words, all).succeeded();
      workspace.npm(theirs, ...words, all).succeeded();
      assert.deepEqual(listing(ours), listing(theirs), words.join(' '));
    }
    clear('a/dist', 'lib/dist', 'node_modules/.bin/a');
    writeFileSync(join(ours, 'fail'), '');
    const failed = workspace.gantryIn(ours, 'install', all, '--json');
    assert.deepEqual([failed.status, failed.lines.at(-1).code], [1, 'SCRIPT_FAILED']);
    assert.ok(!existsSync(join(ours, 'node_modules', '.bin', 'a')));
    clear('a/dist', 'lib/dist', 'fail');
    workspace.gantryIn(ours, 'install', all, '--no-bin-links', '--ignore-scripts').succeeded();
    // Its script asks for the command.
    assert.equal(workspace.gantryIn(ours, 'rebuild', 'lib', all, '--no-bin-links').status, 1);
    assert.ok(!existsSync(join(ours, 'node_modules', '.bin', 'lib')));
  });

  test('of the project are among those that rebuild runs, unless something is named', (context) => {
    const events7 = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare'];
    const scripts = Object.fromEntries(events7.map((event) => [event, record]));
    const both = pair(context, suite, manifest({ recorder: '1.1.0' }, { scripts }));
    const { workspace, folders } = both;
    for (const words of [[], ['recorder'], ['--ignore-scripts']]) {
      for (const project of folders) workspace.npm(project, 'install', '--ignore-scripts').succeeded();
      const [ours, theirs] = bothRecorded(both, 'rebuild', [all, '--foreground-scripts', ...words]);
      assert.deepEqual(events(ours), events(theirs), words.join(' '));
      assert.equal(ours.length, { 0: 4, 1: words[0] === 'recorder' ? 1 : 0 }[words.length]);
    }
    // Nothing is installed, and nothing has to be.
    const alone = workspace.project('alone', { 'package.json': { name: 'alone', scripts: { install: record } } });
    workspace.gantryIn(alone, 'install', '--ignore-scripts').succeeded();
    workspace.gantryIn(alone, 'rebuild').succeeded();
    assert.deepEqual(events(recorded(workspace)), ['alone install']);
    writeFileSync(join(alone, 'package.json'), JSON.stringify({ name: 'alone', scripts: { install: 'exit 3' } }));
    const failed = workspace.gantryIn(alone, 'rebuild', '--json');
    const { code, message, hint, package: name } = failed.lines.at(-1);
    assert.deepEqual([failed.status, code, name], [1, 'SCRIPT_FAILED', 'alone']);
    assert.match(message, /^install of alone failed: `exit 3`/);
    assert.match(hint, /^What scripts have made so far stays\./);
  });

  test('stop a strict command where nothing is said of a package or of a folder, as with npm', (context) => {
    const both = pair(context, suite, {
      ...manifest({ recorder: '1.1.0', lib: 'file:lib', plain: 'file:plain' }, { workspaces: ['own'] }),
      'lib/package.json': { name: 'lib', version: '1.0.0', scripts: { prepare: record } },
      'plain/package.json': { name: 'plain', version: '1.0.0', scripts: { test: record } },
      'own/package.json': { name: 'own', version: '1.0.0', scripts: { install: record } },
    });
    const { workspace, folders } = both;
    for (const project of folders) workspace.npm(project, 'install', '--ignore-scripts').succeeded();
    const fields = (allowScripts) =>
      manifest({ recorder: '1.1.0', lib: 'file:lib', plain: 'file:plain' }, { workspaces: ['own'], allowScripts });
    for (const [allowScripts, unsaid] of [
      [{}, ['recorder@1.1.0', 'lib@1.0.0']],
      [{ recorder: true }, ['lib@1.0.0']],
      [{ 'file:lib': false }, ['recorder@1.1.0']],
      [{ recorder: false, 'file:lib': false }, []],
    ]) {
      both.write(fields(allowScripts));
      for (const words of [['install'], ['ci'], ['rebuild'], ['rebuild', 'recorder']]) {
        const label = `${words.join(' ')}, ${JSON.stringify(allowScripts)}`;
        const [ours, theirs] = folders;
        const run = workspace.gantryIn(ours, ...words, '--strict-allow-scripts', '--json');
        // npm 11 runs those of a folder that is refused it, npm 12 does not.
        const isNamed = words.length > 1;
        assert.deepEqual(events(recorded(workspace)), unsaid.length > 0 || isNamed ? [] : ['own install'], label);
        assert.equal(run.status, unsaid.length > 0 ? 1 : 0, label);
        assert.equal(run.status, workspace.npm(theirs, ...words, '--strict-allow-scripts').status, label);
        recorded(workspace);
        if (unsaid.length === 0) continue;
        const { code, message } = run.lines.at(-1);
        assert.equal(code, 'SCRIPTS_UNREVIEWED', label);
        assert.deepEqual(message.split(': ').at(-1).split(', ').toSorted(), unsaid.toSorted(), label);
        for (const word of [all, '--ignore-scripts']) {
          workspace.gantryIn(ours, ...words, '--strict-allow-scripts', word).succeeded();
          recorded(workspace);
        }
      }
    }
  });

  test('find npm and Node.js where a version manager keeps them', (context) => {
    const workspace = place(context, suite);
    const { folder, npmScript } = workspace;
    const node = process.execPath;
    const shims = join(folder, 'shims');
    mkdirSync(shims);
    for (const [name, words] of [
      ['node', `'${node}'`],
      ['npm', `'${node}' '${npmScript}'`],
    ]) {
      writeFileSync(join(shims, name), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
    }
    workspace.environment.PATH = `${shims}${delimiter}/usr/bin${delimiter}/bin`;
    const project = workspace.project('project', manifest({}, { scripts: { install: record } }));
    workspace.gantryIn(project, 'install').succeeded();
    const [{ environment }] = recorded(workspace);
    assert.equal(environment.NODE, node);
    assert.equal(environment.npm_node_execpath, node);
    const beside = join(dirname(dirname(node)), 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
    assert.equal(environment.npm_execpath, existsSync(beside) ? beside : undefined);
  });
});
