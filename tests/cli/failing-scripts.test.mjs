// Scripts that fail or are ended: what becomes of the tree, and what is said.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { listing } from './lib/pair.mjs';
import { fixturesForSuite, gantryCommand } from './lib/programs.mjs';
import { all, events, manifest, pair, place, record, recorded, warned } from './lib/scripts.mjs';

/** An archive of a package that has only scripts. */
function packed(workspace, name, scripts) {
  const folder = join(workspace.folder, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', scripts }));
  const archive = `${folder}.tgz`;
  execFileSync('tar', ['czf', archive, '-C', workspace.folder, name]);
  return archive;
}

describe('scripts that fail', { concurrency: 1 }, () => {
  const suite = fixturesForSuite('scripts');

  test('one that fails leaves everything as it was, and is told with what it has said', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ builder: '1' }, { allowScripts: { builder: true } }));
    const fails = (...words) => {
      const before = existsSync(join(project, 'node_modules')) ? listing(project) : [];
      const run = workspace.gantryIn(project, ...words, all, '--json');
      assert.equal(run.status, 1);
      const { code, message, package: name } = run.lines.at(-1);
      assert.deepEqual([code, name], ['SCRIPT_FAILED', 'failing@1.0.0']);
      assert.match(message, /^postinstall of failing@1\.0\.0 failed: `echo .*exit 3` ended with exit status: 3\n/);
      assert.match(message, /said\ncomplained$/);
      if (before.length > 0) assert.deepEqual(listing(project), before, words.join(' '));
      else
        assert.deepEqual(
          listing(project).map((line) => line.split(' ')[0]),
          ['package.json'],
        );
    };
    fails('install', 'failing');
    workspace.gantryIn(project, 'install').succeeded();
    fails('install', 'failing');
    fails('install', 'beside-failing', 'builder@1.0.0');
    workspace.gantryIn(project, 'install', 'failing', '--lockfile-only').succeeded();
    fails('ci');
    fails('install');
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const failed = workspace.gantryIn(project, 'rebuild', all, '--json');
    assert.deepEqual([failed.status, failed.lines.at(-1).code], [1, 'SCRIPT_FAILED']);
  });

  for (const [what, script] of Object.entries({
    'its own folder': 'rm -rf ../evil',
    node_modules: 'rm -rf ../../node_modules',
    'what an install works in': 'rm -rf ../../.gantry-*',
    'the hidden lock': 'rm -f ../.package-lock.json',
  })) {
    test(`one that takes away ${what} harms nothing else`, (context) => {
      const workspace = place(context, suite);
      const project = workspace.project('project', manifest({ tool: '1' }));
      mkdirSync(join(project, 'evil'));
      const pack = (end) => {
        const text = JSON.stringify({ name: 'evil', version: '1.0.0', scripts: { postinstall: `${script}; ${end}` } });
        writeFileSync(join(project, 'evil', 'package.json'), text);
        execFileSync('tar', ['czf', join(project, 'evil.tgz'), '-C', project, 'evil']);
      };
      workspace.gantryIn(project, 'install').succeeded();
      pack('exit 1');
      const before = listing(project);
      const failed = workspace.gantryIn(project, 'install', './evil.tgz', all, '--json');
      assert.deepEqual([failed.status, failed.lines.at(-1).code], [1, 'SCRIPT_FAILED']);
      // What was removed is gone, and nothing of what failed is there.
      const isGone = (line) =>
        (what === 'node_modules' && line.startsWith('node_modules/')) ||
        (what === 'what an install works in' && /^(\.gantry-|node_modules\/\.package-lock)/.test(line));
      const left = listing(project).filter((line) => !isGone(line));
      assert.deepEqual(
        left,
        before.filter((line) => !isGone(line)),
      );
      pack('exit 0');
      workspace.gantryIn(project, 'install', './evil.tgz', all).succeeded();
      // Its own folder is gone again, as the script will have it.
      workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
      workspace.npm(project, 'ls').succeeded();
      assert.match(workspace.gantry('store', 'verify').succeeded().stdout, /^\d+ packages are whole\n$/);
    });
  }

  test('what is optional and fails is left out with what comes with it, as by npm', (context) => {
    const both = pair(context, suite, manifest({ 'with-optional-failing': '1' }));
    const [ours, theirs] = both.folders;
    for (const words of [['install'], ['ci'], ['install'], ['install', 'tool'], ['uninstall', 'tool']]) {
      const run = both.workspace.gantryIn(ours, ...words, all, '--json').succeeded();
      both.workspace.npm(theirs, ...words, all).succeeded();
      const step = words.join(' ');
      assert.deepEqual(listing(ours), listing(theirs), step);
      assert.match(warned(run, 'SCRIPT_FAILED')[0], /^optional failing@1\.0\.0 left out with /, step);
    }
    assert.ok(!existsSync(join(ours, 'node_modules', 'failing')));
    assert.ok(existsSync(join(ours, 'node_modules', 'builder', 'built')));
  });

  test('what is optional and was taken away by another one is left out, as by npm', (context) => {
    const workspace = place(context, suite);
    const archive = packed(workspace, 'remover', { preinstall: 'rm -rf ../zebra' });
    const optionalDependencies = { zebra: 'npm:builder@1' };
    const files = manifest({ remover: `file:${archive}` }, { optionalDependencies });
    const [ours, theirs] = ['ours', 'theirs'].map((name) => workspace.project(name, files));
    const run = workspace.gantryIn(ours, 'install', all, '--json').succeeded();
    assert.match(warned(run, 'DISK_IO')[0], /^optional builder@1\.0\.0 left out: /);
    workspace.npm(theirs, 'install', all).succeeded();
    assert.deepEqual(listing(ours), listing(theirs));
  });

  test('one that is optional, and changes and takes away what others share, is left out, and that is fetched once more', (context) => {
    const workspace = place(context, suite);
    const archive = packed(workspace, 'breaker', {
      preinstall: 'echo changed > ../tool/tool.js; rm -rf ../tool; exit 1',
    });
    const other = workspace.project('other', manifest({ tool: '1' }));
    workspace.gantryIn(other, 'install').succeeded();
    const published = readFileSync(join(other, 'node_modules/tool/tool.js'), 'utf8');
    const optionalDependencies = { breaker: `file:${archive}` };
    const project = workspace.project('project', manifest({ tool: '1' }, { optionalDependencies }));
    const run = workspace.gantryIn(project, 'install', all, '--json').succeeded();
    assert.match(warned(run, 'SCRIPT_FAILED')[0], /^optional breaker@1\.0\.0 left out/);
    assert.match(warned(run, 'SHARED_FILES_CHANGED')[0], /^scripts changed files of tool@1\.0\.0, /);
    assert.equal(warned(run, 'STORE_CORRUPT').length, 1);
    assert.deepEqual(readdirSync(join(project, 'node_modules')).sort(), ['.bin', '.package-lock.json', 'tool']);
    assert.equal(readFileSync(join(project, 'node_modules/tool/tool.js'), 'utf8'), published);
    workspace.gantryIn(other, 'ci').succeeded();
    assert.equal(readFileSync(join(other, 'node_modules/tool/tool.js'), 'utf8'), published);
    assert.equal(workspace.gantry('store', 'verify').succeeded().status, 0);
  });

  test('one of the project that fails ends the command when everything is in place', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project(
      'project',
      manifest({ tool: '1' }, { scripts: { postinstall: 'exit 7', prepare: record } }),
    );
    const run = workspace.gantryIn(project, 'install', '--json');
    assert.equal(run.status, 1);
    assert.deepEqual([run.lines.at(-1).code, run.lines.at(-1).package], ['SCRIPT_FAILED', 'project@1.0.0']);
    assert.deepEqual(recorded(workspace), []);
    assert.ok(existsSync(join(project, 'package-lock.json')));
    workspace.npm(project, 'ls').succeeded();
  });

  test('that no shell is there for say so', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ builder: '1' }, { scripts: { install: record } }));
    workspace.gantryIn(project, 'install', all, '--script-shell=bash').succeeded();
    recorded(workspace);
    for (const [words, name, event] of [
      [['install'], 'project@1.0.0', 'install'],
      [['ci', all], 'builder@1.0.0', 'postinstall'],
    ]) {
      const failed = workspace.gantryIn(project, ...words, '--script-shell=/no/shell', '--json');
      const { code, message, hint, package: whose } = failed.lines.at(-1);
      assert.deepEqual([failed.status, code, whose], [1, 'SCRIPT_FAILED', name]);
      assert.ok(message.startsWith(`${event} of ${name} cannot be run by /no/shell: `), message);
      assert.match(hint, /script-shell/);
    }
    const without = workspace.project('without', manifest({}, { optionalDependencies: { builder: '1' } }));
    const run = workspace.gantryIn(without, 'install', all, '--script-shell=/no/shell', '--json').succeeded();
    assert.match(warned(run, 'SCRIPT_FAILED')[0], /^optional builder@1\.0\.0 left out: .*\/no\/shell/);
    assert.ok(!existsSync(join(without, 'node_modules', 'builder')));
  });

  /** Starts an install whose script does not end, and gives its process and the script's number once that runs. */
  async function sleeping(workspace, project, ...words) {
    const file = join(workspace.folder, 'sleeping');
    rmSync(file, { force: true });
    const child = spawn(gantryCommand, ['install', all, ...words], {
      cwd: project,
      env: { ...workspace.environment, SLEEPING: file },
      stdio: 'ignore',
    });
    const ended = new Promise((settle) => child.on('exit', (status, signal) => settle(status ?? signal)));
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await pause(20);
    return { child, ended, script: Number(readFileSync(file, 'utf8')) };
  }

  /** Whether a process runs still; one that nobody has asked for its status does not. */
  const runs = (script) => {
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', `${script}`], { encoding: 'utf8' });
    return !['', 'Z'].includes(stdout.trim().slice(0, 1));
  };

  test('who interrupts ends them, and has what was there before', async (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ builder: '1' }));
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
      const before = listing(project);
      const { child, ended, script } = await sleeping(workspace, project, 'sleeping');
      child.kill(signal);
      assert.equal(await ended, { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
      assert.equal(runs(script), false, signal);
      assert.deepEqual(listing(project), before, signal);
      // The second time there is a tree.
      workspace.gantryIn(project, 'install', all).succeeded();
    }
  });

  test('who interrupts twice waits for none, and ends those that do not want to end', async (context) => {
    const workspace = place(context, suite);
    const stubborn = 'trap "" TERM INT; sh -c "echo \\$\\$ > $SLEEPING; sleep 60; true"; true';
    const project = workspace.project('project', {
      ...manifest({}, { workspaces: ['folder'] }),
    });
    mkdirSync(join(project, 'folder'));
    const folder = { name: 'folder', version: '1.0.0', scripts: { install: stubborn } };
    writeFileSync(join(project, 'folder', 'package.json'), JSON.stringify(folder));
    for (const signal of ['SIGINT', 'SIGTERM']) {
      const { child, ended, script } = await sleeping(workspace, project);
      child.kill(signal);
      await pause(200);
      assert.equal(runs(script), true, 'it passes over what it is told');
      child.kill(signal);
      assert.equal(await ended, { SIGINT: 130, SIGTERM: 143 }[signal]);
      for (let left = 100; runs(script) && left > 0; left--) await pause(20);
      assert.equal(runs(script), false, signal);
    }
  });

  test('what was killed while they ran is not taken to be installed', async (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ builder: '1' }));
    workspace.gantryIn(project, 'install').succeeded();
    const { child, ended, script } = await sleeping(workspace, project, 'sleeping', 'recorder@1.1.0');
    child.kill('SIGKILL');
    assert.equal(await ended, 'SIGKILL');
    process.kill(script, 'SIGKILL');
    recorded(workspace);
    const manifestNow = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    assert.deepEqual(manifestNow.dependencies, { builder: '1' });
    workspace.gantryIn(project, 'install', 'recorder@1.1.0', all).succeeded();
    assert.deepEqual(events(recorded(workspace)), ['recorder install']);
    assert.ok(existsSync(join(project, 'node_modules', 'builder', 'built')));
    assert.ok(!existsSync(join(project, 'node_modules', 'sleeping')));
    workspace.npm(project, 'ls').succeeded();
  });

  test('nor is what nothing tells the origin of', async (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ sleeping: '1', recorder: '1.1.0' }));
    const lock = join(project, 'package-lock.json');
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const text = JSON.parse(readFileSync(lock, 'utf8'));
    for (const entry of Object.values(text.packages)) {
      delete entry.resolved;
      delete entry.integrity;
    }
    writeFileSync(lock, JSON.stringify(text));
    rmSync(join(project, 'node_modules'), { recursive: true });
    const { child, ended, script } = await sleeping(workspace, project);
    child.kill('SIGKILL');
    await ended;
    process.kill(script, 'SIGKILL');
    recorded(workspace);
    const again = await sleeping(workspace, project);
    again.child.kill('SIGTERM');
    assert.equal(await again.ended, 143);
  });
});
