// What goes wrong in the middle: failures, damage, signals, other tools. The tree that was there stays or the new one is
// complete, and the next install finishes the work.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gantryCommand, projectsFolder, startRegistry, Workspace } from './lib/programs.mjs';

const manifest = (dependencies) => ({ 'package.json': { name: 'project', version: '1.0.0', dependencies } });
const versionOf = (project, name) =>
  JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8')).version;

/** Names of temporary things in a project. */
function leftovers(project) {
  const modules = join(project, 'node_modules');
  const names = [...readdirSync(project), ...(existsSync(modules) ? readdirSync(modules) : [])];
  return names.filter((name) => name.startsWith('.gantry-'));
}

/** Directories of stored packages that have a file of this content. */
function stored(workspace, file, content) {
  const packages = join(workspace.environment.GANTRY_STORE_DIR, 'v1', 'packages');
  return readdirSync(packages, { recursive: true })
    .filter((path) => path.endsWith(`/files/${file}`))
    .map((path) => join(packages, path))
    .filter((path) => readFileSync(path, 'utf8').includes(content))
    .map((path) => path.slice(0, -`/files/${file}`.length));
}

/** Starts the command; `ended` has status, signal, output and how long it took. */
function start(workspace, ...words) {
  const started = performance.now();
  const child = spawn(gantryCommand, words, { cwd: workspace.folder, env: workspace.environment });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise((settle) => {
    child.on('close', (status, signal) =>
      settle({ status, signal, stdout, stderr, milliseconds: performance.now() - started }),
    );
  });
  return { child, ended };
}

const wait = (milliseconds) => new Promise((settle) => setTimeout(settle, milliseconds));

describe('safety', { concurrency: 1 }, () => {
  let registry;
  const ends = [];
  before(async () => {
    registry = await startRegistry({ after: (end) => ends.push(end) }, '--fixtures', 'basic');
  });
  // Not in `before`: there it would be called as soon as that is over, which only tests that let time pass notice.
  after(() => {
    for (const end of ends) end();
  });

  test('a change whose packages cannot be linked leaves the tree that works', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ left: '1.0.0' }));
    workspace.gantry('install', '--prefix', project).succeeded();
    mkdirSync(join(project, 'node_modules', '.cache'));
    const changed = manifest({ left: '1.1.0', right: '1' });
    const other = workspace.project('other', changed);
    workspace.gantry('install', '--prefix', other).succeeded();
    // From this lock nothing can be fetched.
    const nowhere = 'http://127.0.0.1:9/';
    const lock = readFileSync(join(other, 'package-lock.json'), 'utf8').replaceAll(registry, nowhere);
    workspace.project('project', { ...changed, 'package-lock.json': lock });
    for (const directory of stored(workspace, 'package.json', '"right"')) {
      rmSync(join(directory, 'files'), { recursive: true });
    }
    const finished = workspace.gantry('install', '--prefix', project, '--registry', nowhere);
    assert.ok([3, 4].includes(finished.status), finished.stderr);
    assert.match(finished.stderr, /right/);
    assert.equal(versionOf(project, 'left'), '1.0.0');
    assert.ok(existsSync(join(project, 'node_modules', '.package-lock.json')));
    assert.ok(existsSync(join(project, 'node_modules', '.cache')));
    assert.deepEqual(leftovers(project), []);
  });

  test('a change that fails when it is half published is taken back', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ left: '1.0.0' }));
    workspace.gantry('install', '--prefix', project).succeeded();
    const digest = () => workspace.gantry('digest', '--prefix', project).succeeded().stdout;
    // Where the folder of commands should be is a file.
    writeFileSync(join(project, 'node_modules', '.bin'), '');
    const [untouched, lock] = [digest(), readFileSync(join(project, 'package-lock.json'), 'utf8')];
    workspace.project('project', manifest({ left: '1.1.0', right: '1' }));
    assert.equal(workspace.gantry('install', '--prefix', project).status, 4);
    assert.equal(digest(), untouched);
    assert.equal(readFileSync(join(project, 'package-lock.json'), 'utf8'), lock);
    assert.deepEqual(leftovers(project), []);
    unlinkSync(join(project, 'node_modules', '.bin'));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.equal(versionOf(project, 'left'), '1.1.0');
  });

  test('ci starts from an empty node_modules, install keeps what is in it', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ left: '1.0.0' }));
    workspace.gantry('install', '--prefix', project).succeeded();
    const modules = join(project, 'node_modules');
    const original = readFileSync(join(modules, 'left', 'index.js'), 'utf8');
    unlinkSync(join(modules, 'left', 'index.js'));
    writeFileSync(join(modules, 'left', 'index.js'), 'changed');
    mkdirSync(join(modules, '.cache'));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.equal(readFileSync(join(modules, 'left', 'index.js'), 'utf8'), 'changed');
    assert.ok(existsSync(join(modules, '.cache')));
    mkdirSync(join(modules, 'stray'));
    workspace.gantry('ci', '--prefix', project).succeeded();
    assert.equal(readFileSync(join(modules, 'left', 'index.js'), 'utf8'), original);
    assert.deepEqual(readdirSync(modules).sort(), ['.package-lock.json', 'left']);
    assert.deepEqual(leftovers(project), []);
  });

  test('what a killed install had carried into its workspace comes back, also where that is inside of node_modules', (context) => {
    const workspace = new Workspace(context, registry);
    for (const place of ['', 'node_modules']) {
      const project = workspace.project(`project-${place}`, manifest({ left: '1.0.0' }));
      workspace.gantry('install', '--prefix', project).succeeded();
      const modules = join(project, 'node_modules');
      // As it is where node_modules is a mount point, and where it is not.
      const moved = join(project, place, '.gantry-1f2e-18d3a5b6c7d8e9f0-0', 'new', 'node_modules', '.prisma');
      mkdirSync(moved, { recursive: true });
      writeFileSync(join(moved, 'client.js'), 'made');
      workspace.gantry('install', '--prefix', project).succeeded();
      assert.equal(readFileSync(join(modules, '.prisma', 'client.js'), 'utf8'), 'made', place);
      assert.deepEqual(leftovers(project), []);
    }
  });

  test('an install without a hidden lock makes the packages anew and keeps what is none', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ left: '1.0.0' }));
    workspace.gantry('install', '--prefix', project).succeeded();
    const modules = join(project, 'node_modules');
    mkdirSync(join(modules, '.cache'));
    mkdirSync(join(modules, 'stray'));
    unlinkSync(join(modules, '.package-lock.json'));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.deepEqual(readdirSync(modules).sort(), ['.cache', '.package-lock.json', 'left']);
  });

  test('an install without a hidden lock keeps what is no package in workspaces, too', (context) => {
    const workspace = new Workspace(context, registry);
    const fields = { name: 'project', version: '1.0.0', dependencies: { left: '1.1.0' }, workspaces: ['one', 'two'] };
    const project = workspace.project('project', { 'package.json': fields });
    const member = (name, dependencies) =>
      workspace.project(`project/${name}`, { 'package.json': { name, version: '1.0.0', dependencies } });
    const folders = ['one', 'two'].map((name) => join(member(name, { left: '1.0.0' }), 'node_modules'));
    workspace.gantry('install', '--prefix', project).succeeded();
    for (const folder of folders) {
      assert.deepEqual(readdirSync(folder), ['left']);
      mkdirSync(join(folder, '.cache'));
    }
    member('two', {});
    unlinkSync(join(project, 'node_modules', '.package-lock.json'));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.deepEqual(
      folders.map((folder) => readdirSync(folder).sort()),
      [['.cache', 'left'], ['.cache']],
    );
  });

  test('a node_modules that is a link is replaced by a folder, as npm does', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ left: '1.0.0' }));
    const elsewhere = workspace.project('elsewhere', { mine: 'x' });
    symlinkSync(elsewhere, join(project, 'node_modules'));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.equal(realpathSync(join(project, 'node_modules')), join(project, 'node_modules'));
    assert.deepEqual(readdirSync(elsewhere), ['mine']);
    assert.deepEqual(leftovers(project), []);
  });

  test('what another tool did to node_modules is noticed', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ left: '1.0.0', right: '1', 'with-bundle': '1' }));
    workspace.gantry('install', '--prefix', project).succeeded();
    const modules = join(project, 'node_modules');
    const other = workspace.project('other', manifest({ left: '1.1.0' }));
    workspace.gantry('install', '--prefix', other).succeeded();
    rmSync(join(modules, 'left'), { recursive: true });
    renameSync(join(other, 'node_modules', 'left'), join(modules, 'left'));
    mkdirSync(join(modules, '@stray', 'package'), { recursive: true });
    symlinkSync('../elsewhere', join(modules, 'linked'));
    mkdirSync(join(modules, 'right', 'node_modules', 'left'), { recursive: true });
    mkdirSync(join(modules, '.cache'));
    const before = statSync(join(modules, 'right', 'cli.js')).ino;
    const result = workspace.gantry('install', '--prefix', project, '--json').succeeded().lines.at(-1);
    assert.equal(versionOf(project, 'left'), '1.0.0');
    assert.deepEqual([result.linked, result.kept], [1, 2], 'only what differs is made anew');
    assert.equal(statSync(join(modules, 'right', 'cli.js')).ino, before);
    for (const stray of ['@stray', 'linked', 'right/node_modules/left']) {
      assert.ok(!existsSync(join(modules, stray, '')), `${stray} is removed`);
    }
    assert.ok(existsSync(join(modules, '.cache')));
    assert.ok(existsSync(join(modules, 'with-bundle', 'node_modules', 'inside', 'package.json')));
    const hidden = statSync(join(modules, '.package-lock.json'), { bigint: true }).mtimeNs;
    for (const folder of ['', 'left', 'right', 'with-bundle']) {
      assert.ok(statSync(join(modules, folder), { bigint: true }).mtimeNs <= hidden, 'the hidden lock is the newest');
    }
  });

  test('a touched folder costs a look and changes nothing', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ left: '1.0.0', right: '1' }));
    workspace.gantry('install', '--prefix', project).succeeded();
    const later = new Date(Date.now() + 5000);
    utimesSync(join(project, 'node_modules', 'left'), later, later);
    const result = workspace.gantry('install', '--prefix', project, '--json').succeeded().lines.at(-1);
    assert.deepEqual([result.linked, result.kept], [0, 2]);
  });

  for (const [what, damage] of [
    ['its list', (directory) => unlinkSync(join(directory, 'index'))],
    [
      'its list and a file',
      (directory) => {
        unlinkSync(join(directory, 'index'));
        writeFileSync(join(directory, 'files', 'index.js'), 'damaged');
      },
    ],
    ['all its files', (directory) => rmSync(join(directory, 'files'), { recursive: true })],
    ['one file', (directory) => unlinkSync(join(directory, 'files', 'index.js'))],
    ['its package.json', (directory) => unlinkSync(join(directory, 'files', 'package.json'))],
    [
      'its folder to a file',
      (directory) => {
        rmSync(directory, { recursive: true });
        writeFileSync(directory, 'no folder');
      },
    ],
  ]) {
    test(`a stored package that lost ${what} is fetched again`, (context) => {
      const workspace = new Workspace(context, registry);
      const first = workspace.project('first', manifest({ left: '1.1.0' }));
      workspace.gantry('install', '--prefix', first).succeeded();
      const digest = (folder) => workspace.gantry('digest', '--prefix', folder).succeeded().stdout;
      const whole = digest(first);
      const [directory] = stored(workspace, 'index.js', '1.1.0');
      rmSync(join(first, 'node_modules'), { recursive: true });
      damage(directory);
      for (const name of ['second', 'third']) {
        const project = workspace.project(name, manifest({ left: '1.1.0' }));
        const { lines } = workspace.gantry('install', '--prefix', project, '--json').succeeded();
        assert.equal(digest(project), whole);
        const warnings = lines.filter((line) => line.type === 'warning' && line.code === 'STORE_CORRUPT');
        if (name === 'third')
          assert.equal(lines.at(-1).requests, 0, 'the document is kept, and the package whole again');
        for (const warning of warnings) assert.ok(warning.message.includes(directory), warning.message);
      }
      assert.ok(existsSync(join(directory, 'index')));
    });
  }

  test('one install at a time: the second one says so before it asks anybody', async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ 'hang-tarball': '1' }));
    const first = start(workspace, 'install', '--prefix', project, '--json');
    while (!existsSync(workspace.environment.GANTRY_STORE_DIR)) {
      if (first.child.exitCode !== null) break;
      await wait(20);
      const second = workspace.gantry('install', '--prefix', project, '--json', '--registry', 'http://127.0.0.1:9/');
      if (second.lines.at(-1).code === 'PROJECT_BUSY') {
        assert.equal(second.status, 4);
        assert.equal(second.lines.length, 1, 'nothing was begun');
        break;
      }
    }
    assert.equal(first.child.exitCode, null, 'the first one is still at work');
    first.child.kill('SIGINT');
    const { status, stdout, milliseconds } = await first.ended;
    assert.equal(status, 130, stdout);
    assert.ok(milliseconds < 20_000);
    assert.equal(JSON.parse(stdout.trim().split('\n').at(-1)).code, 'CANCELLED');
    assert.deepEqual(readdirSync(project), ['package.json']);
  });

  test('a reader that goes away does not stop the install', async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ right: '1', 'with-script': '1' }));
    for (const words of [['--json'], []]) {
      rmSync(join(project, 'node_modules'), { recursive: true, force: true });
      const { child, ended } = start(workspace, 'install', '--prefix', project, ...words);
      child.stdout.destroy();
      child.stderr.destroy();
      const { status, signal } = await ended;
      assert.deepEqual([status, signal], [0, null]);
      assert.equal(versionOf(project, 'right'), '1.0.0');
    }
  });
});

/** How many moments each signal is tried at. */
const moments = 12;

describe('ended at any moment', { concurrency: 1 }, () => {
  let registry;
  const ends = [];
  before(async () => {
    registry = await startRegistry({ after: (end) => ends.push(end) });
  });
  after(() => {
    for (const end of ends) end();
  });

  for (const signal of ['SIGINT', 'SIGKILL']) {
    for (const command of ['install', 'ci']) {
      test(`${command} and ${signal}: the next install finishes the work`, async (context) => {
        const workspace = new Workspace(context, registry);
        const digest = (folder) => workspace.gantry('digest', '--prefix', folder).succeeded().stdout;
        const read = (folder, file) => readFileSync(join(folder, file), 'utf8');
        const all = JSON.parse(read(join(projectsFolder, 'express'), 'package.json'));
        const few = { ...all, dependencies: { cors: all.dependencies.cors }, devDependencies: {} };
        const install = (folder) => workspace.gantry('install', '--prefix', folder).succeeded();

        // The same start each time: few packages and something of the user's; then package.json and lock for many.
        const [goal, project] = ['goal', 'project'].map((name) => join(workspace.folder, name));
        workspace.project('goal', { 'package.json': all });
        install(goal);
        const files = {
          'package.json': read(goal, 'package.json'),
          'package-lock.json': read(goal, 'package-lock.json'),
        };
        const begin = () => {
          rmSync(project, { recursive: true, force: true });
          workspace.project('project', { 'package.json': few });
          install(project);
          mkdirSync(join(project, 'node_modules', '.cache'));
          writeFileSync(join(project, 'node_modules', '.cache', 'mine'), 'mine');
          workspace.project('project', files);
        };
        begin();
        const before = digest(project);
        const measured = await start(workspace, command, '--prefix', project).ended;
        assert.equal(measured.status, 0, measured.stderr);
        const tree = digest(project);
        assert.equal(existsSync(join(project, 'node_modules', '.cache', 'mine')), command === 'install');

        for (let moment = 0; moment < moments; moment++) {
          begin();
          const { child, ended } = start(workspace, command, '--prefix', project);
          const milliseconds = Math.random() * measured.milliseconds;
          await wait(milliseconds);
          child.kill(signal);
          const { status, stderr } = await ended;
          const when = `after ${milliseconds} of ${measured.milliseconds} ms: ${status} ${stderr}`;
          if (signal === 'SIGINT') {
            assert.ok([0, 130, null].includes(status), when);
            assert.ok([before, tree].includes(digest(project)), `one tree or the other ${when}`);
            assert.deepEqual(leftovers(project), [], when);
          }
          const again = workspace.gantry(command, '--prefix', project);
          assert.equal(again.status, 0, `${when}\n${again.stderr}`);
          assert.equal(digest(project), tree, when);
          assert.deepEqual(leftovers(project), [], when);
        }
      });
    }
  }
});
