// What is in the way of a command: folders that may not be read or changed, files where the store has folders, disks that git
// finds full. Run by somebody who is not root, whom permissions do not count for.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
import { Finished, fixturesForSuite, Workspace } from './lib/programs.mjs';
import { somebody } from './lib/trouble/users.mjs';

const manifest = (more) => ({
  'package.json': {
    name: 'project',
    version: '1.0.0',
    dependencies: { '@scope/middle': '1', executable: '1' },
    ...more,
  },
});

describe('a command that is hindered', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  /** A place where somebody works, and a way to have them run the command in a folder. */
  function place(context) {
    const workspace = new Workspace(context, suite.registry);
    const store = join(workspace.folder, 'store');
    mkdirSync(store);
    const { command, identity, give } = somebody(workspace.folder);
    const project = (name, more) => {
      const folder = workspace.project(name, manifest(more));
      give();
      return folder;
    };
    const run = (cwd, ...words) => {
      const environment = { ...workspace.environment, HOME: workspace.folder };
      const result = spawnSync(command, [...words, '--json'], { cwd, env: environment, encoding: 'utf8', ...identity });
      if (result.error) throw result.error;
      return new Finished(words.join(' '), result);
    };
    return { workspace, store, project, run };
  }

  const files = (folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));

  test('names the project’s folder where that may not be read', (context) => {
    const { project, run } = place(context);
    const folder = project('project');
    chmodSync(folder, 0o311);
    const refused = run(folder, 'install');
    chmodSync(folder, 0o755);
    assert.deepEqual([refused.status, refused.lines.at(-1).code], [4, 'DISK_DENIED']);
    assert.ok(refused.lines.at(-1).message.includes(folder), refused.lines.at(-1).message);
  });

  test('says what of a tree that goes cannot be removed, as it is somebody else’s', (context) => {
    const { project, run } = place(context);
    const folder = project('project');
    run(folder, 'install').succeeded();
    const foreign = join(folder, 'node_modules', '.cache');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'file'), '');
    const { lines } = run(folder, 'ci').succeeded();
    const [left] = readdirSync(folder).filter((name) => name.startsWith('.gantry-'));
    const said = lines.filter(({ code }) => code === 'LEFT_BEHIND').map(({ message }) => message);
    assert.equal(said.length, 1);
    assert.ok(said[0].includes(join(folder, left)), said[0]);
    rmSync(join(folder, left), { recursive: true });
    const again = run(folder, 'ci').succeeded();
    assert.deepEqual(
      again.lines.filter(({ code }) => code === 'LEFT_BEHIND'),
      [],
    );
    assert.ok(!readdirSync(folder).some((name) => name.startsWith('.gantry-')));
  });

  test('leaves nothing of a tree that goes, whoever may list what is in it', (context) => {
    const { project, run } = place(context);
    const folder = project('project');
    run(folder, 'install').succeeded();
    const tree = listing(folder);
    for (const [mode, words] of [
      [0o000, ['ci']],
      [0o444, ['ci']],
      [0o555, ['ci']],
    ]) {
      chmodSync(join(folder, 'node_modules/@scope'), mode);
      run(folder, ...words).succeeded();
      assert.deepEqual(listing(folder), tree, `${words} with ${mode.toString(8)}`);
    }
  });

  test('fetches again what nobody may read any more in the store', (context) => {
    const { project, run, store } = place(context);
    const [one, other] = ['one', 'other'].map((name) => project(name));
    run(one, 'install').succeeded();
    writeFileSync(join(other, 'package-lock.json'), readFileSync(join(one, 'package-lock.json')));
    const tree = listing(one);
    for (const path of files(join(one, 'node_modules'))) chmodSync(path, 0o000);
    run(other, 'ci').succeeded();
    assert.deepEqual(listing(other), tree);
    run(other, 'store', 'verify').succeeded();
    assert.ok(existsSync(store));
  });

  test('makes room for its folders where the store has files', (context) => {
    const { project, run, store } = place(context);
    const folder = project('project');
    run(folder, 'install').succeeded();
    const tree = listing(folder);
    const packages = join(store, 'v1/packages');
    const places = [join(packages, readdirSync(packages)[0]), packages, join(store, 'v1/temporary')];
    for (const path of places) {
      rmSync(path, { recursive: true });
      writeFileSync(path, 'no folder');
      run(folder, 'ci').succeeded();
      assert.ok(statSync(path).isDirectory(), path);
      assert.deepEqual(listing(folder), tree);
    }
  });

  /** A repository with a package in it; its address. */
  function repository(workspace) {
    const folder = workspace.project('tool', { 'package.json': { name: 'tool', version: '1.0.0' } });
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@test'];
    for (const words of [
      ['init', '--quiet'],
      ['add', '--all'],
      [...author, 'commit', '--quiet', '-m', 'first'],
    ])
      execFileSync('git', words, { cwd: folder });
    return `git+file://${folder}`;
  }

  test('does not do without a repository for want of a place to put it', (context) => {
    const { workspace, project, run, store } = place(context);
    const folder = project('project', { optionalDependencies: { tool: repository(workspace) } });
    const temporary = join(store, 'v1/temporary');
    mkdirSync(temporary, { recursive: true });
    chmodSync(temporary, 0o555);
    const refused = run(folder, 'install', '--package-lock-only').lines.at(-1);
    assert.deepEqual([refused.code, refused.package], ['DISK_DENIED', 'tool']);
    assert.ok(refused.message.includes(temporary), refused.message);
    assert.ok(!existsSync(join(folder, 'package-lock.json')));
  });

  test('says of a full disk that git finds that it is full', (context) => {
    const { workspace, project, run, store } = place(context);
    const folder = project('project', { dependencies: { tool: repository(workspace) } });
    const programs = join(workspace.folder, 'programs');
    mkdirSync(programs);
    const path = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const full = 'case "$*" in *fetch*) echo "fatal: write error: No space left on device" >&2; exit 128;; esac';
    writeFileSync(join(programs, 'git'), `#!/bin/sh\n${full}\nexec '${path}' "$@"\n`, { mode: 0o755 });
    workspace.environment.PATH = `${programs}:${process.env.PATH}`;
    const refused = run(folder, 'install');
    const { code, message, package: named, hint } = refused.lines.at(-1);
    assert.deepEqual([refused.status, code, named], [4, 'DISK_FULL', 'tool']);
    assert.ok(message.includes(join(store, 'v1/temporary')), message);
    assert.match(hint, /Free some space/);
    assert.deepEqual(readdirSync(join(store, 'v1/temporary')), []);
  });
});
