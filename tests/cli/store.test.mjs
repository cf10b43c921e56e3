// Looking after the store: what is in it, whether it still is what was unpacked, and what no project has.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
import { control, fixturesForSuite, gantryCommand, Workspace } from './lib/programs.mjs';

const manifest = (dependencies) => ({ 'package.json': { name: 'project', version: '1.0.0', dependencies } });

describe('the store', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  /** Two projects from one store: one has `left` and `right` below `@scope/middle`, the other has `left` and `executable`. */
  function installed(context) {
    const workspace = new Workspace(context, suite.registry);
    const one = workspace.project('one', manifest({ '@scope/middle': '^1.0.0' }));
    const other = workspace.project('other', manifest({ left: '1.0.0', executable: '1' }));
    for (const project of [one, other]) workspace.gantryIn(project, 'install').succeeded();
    const store = (...words) => workspace.gantry('store', ...words, '--json');
    const kept = () => store('ls').succeeded().lines;
    const names = () => kept().map((line) => line.package.replace(/(?<!^)@.*/, ''));
    /** The folder of a package in the store. */
    const folderOf = (name) => {
      const { key } = kept().find((line) => line.package.startsWith(`${name}@`));
      return join(workspace.folder, 'store', 'v1', 'packages', key.split('-').at(-1).slice(0, 2), key);
    };
    return { workspace, one, other, store, kept, names, folderOf };
  }

  /** An install that waits for the tarball of `deprecated`, which it has asked for. */
  async function hanging(context, workspace, project) {
    await control(suite.registry, 'POST', 'faults', [{ path: '/deprecated/-/', kind: 'hang-before-headers' }]);
    // Those of earlier tests are counted, too.
    const faults = async () => (await control(suite.registry, 'GET', 'stats')).faults;
    const before = await faults();
    const install = spawn(gantryCommand, ['install'], { cwd: project, env: workspace.environment, stdio: 'ignore' });
    context.after(() => install.kill('SIGKILL'));
    while ((await faults()) === before) await new Promise((settle) => setTimeout(settle, 20));
    return install;
  }

  test('says where it is, what is in it, and how much of that', (context) => {
    const { workspace, one, store, kept } = installed(context);
    const place = join(workspace.folder, 'store');
    assert.equal(workspace.gantry('store', 'path').stdout, `${place}\n`);
    assert.equal(
      workspace.gantry('store', 'path', '--store-dir', 'else').stdout,
      `${join(workspace.folder, 'else')}\n`,
    );

    const list = kept();
    assert.deepEqual(
      list.map((line) => line.package.replace(/(?<!^)@.*/, '')),
      ['@scope/middle', 'executable', 'left', 'right'],
    );
    assert.ok(list.every(({ used, files, bytes }) => used && files > 0 && bytes > 0));
    const [status] = store('status').succeeded().lines;
    const sum = (of) => list.reduce((total, line) => total + line[of], 0);
    const { metadataBytes, ...rest } = status;
    assert.deepEqual(rest, {
      type: 'result',
      packages: 4,
      files: sum('files'),
      bytes: sum('bytes'),
      unusedPackages: 0,
      unusedBytes: 0,
      projects: 2,
    });
    assert.ok(metadataBytes > 0);

    rmSync(join(one, 'node_modules'), { recursive: true });
    const [now] = store('status').succeeded().lines;
    assert.deepEqual([now.projects, now.unusedPackages], [1, 2]);
    assert.match(workspace.gantry('store', 'status').stdout, /^4 packages, .* 1 project; of them 2 packages, /);
    assert.match(workspace.gantry('store', 'ls').stdout, /^right@\S+ \d+ sha512-[0-9a-f]+ unused$/m);
  });

  test('is looked through for files that are not what was unpacked', (context) => {
    const { workspace, one, other, store, folderOf } = installed(context);
    assert.deepEqual(store('verify').succeeded().lines, [{ type: 'result', packages: 4, withoutSums: 0 }]);
    const trees = [one, other].map((project) => workspace.gantryIn(project, 'digest').succeeded().stdout);

    const file = (name, path) => join(folderOf(name), 'files', path);
    const damages = [
      // Of the same length, which no look at sizes would show.
      [
        'right',
        'package.json has other contents',
        (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('1', '2')),
      ],
      ['right', 'package.json has another size', (path) => appendFileSync(path, ' ')],
      ['right', 'package.json has another mode', (path) => chmodSync(path, 0o755)],
      ['right', 'package.json is missing', (path) => unlinkSync(path)],
      ['right', 'it has files that the package has not', (path) => writeFileSync(join(dirname(path), 'new.js'), '')],
      ['right', 'it has no list of its files', (path) => unlinkSync(join(path, '../../index'))],
      ['right', 'package index', (path) => writeFileSync(join(path, '../../index'), 'no list')],
      [
        'right',
        'it has no list of its files',
        (path) => {
          rmSync(join(path, '../../index'));
          mkdirSync(join(path, '../../index'));
        },
      ],
      [
        'right',
        'it has no list of its files',
        (path) => {
          rmSync(join(path, '../..'), { recursive: true });
          writeFileSync(join(path, '../..'), 'no folder');
        },
      ],
    ];
    for (const [name, problem, damage] of damages) {
      damage(file(name, 'package.json'));
      const run = store('verify');
      assert.equal(run.status, 4, problem);
      const [error] = run.lines;
      assert.equal(error.code, 'STORE_CORRUPT');
      assert.ok(
        error.message.startsWith('1 of 4 packages were damaged') && error.message.includes(problem),
        error.message,
      );
      assert.equal(error.hint, `Run \`gantry ci\` in the projects that have one of them: ${one}.`);
      assert.deepEqual(store('verify').succeeded().lines, [{ type: 'result', packages: 3, withoutSums: 0 }]);
      workspace.gantryIn(one, 'ci').succeeded();
      assert.equal(workspace.gantryIn(one, 'digest').stdout, trees[0], problem);
      assert.deepEqual(store('verify').succeeded().lines, [{ type: 'result', packages: 4, withoutSums: 0 }]);
    }
    assert.equal(workspace.gantryIn(other, 'digest').stdout, trees[1]);
  });

  test('of before it knew what files hash to is installed from, and its sizes are compared', (context) => {
    const { workspace, one, store, kept, folderOf } = installed(context);
    for (const name of kept().map((line) => line.package.replace(/(?<!^)@.*/, ''))) {
      const index = join(folderOf(name), 'index');
      const bytes = readFileSync(index);
      assert.equal(bytes[0], 0);
      writeFileSync(index, bytes.subarray(13 + 8 * bytes.readUInt32LE(9)));
    }
    workspace.gantryIn(one, 'ci', '--offline').succeeded();
    const verified = workspace.gantry('store', 'verify').succeeded();
    assert.equal(verified.stdout, '4 packages are whole\n');
    assert.match(verified.stderr, /STORE_WITHOUT_SUMS.* 4 packages/);
    appendFileSync(join(folderOf('right'), 'files', 'package.json'), ' ');
    assert.equal(store('verify').status, 4);
  });

  test('gives back what no project has, however projects have it', (context) => {
    const { workspace, one, other, store, names, folderOf } = installed(context);
    // As if it had been copied, so that no link tells of it.
    for (const file of listing(join(other, 'node_modules')).map((line) =>
      join(other, 'node_modules', line.split(' ')[0]),
    )) {
      if (!statSync(file, { throwIfNoEntry: false })?.isFile() || statSync(file).nlink === 1) continue;
      const [bytes, { mode }] = [readFileSync(file), statSync(file)];
      unlinkSync(file);
      writeFileSync(file, bytes, { mode });
    }
    assert.deepEqual(store('prune').succeeded().lines, [
      { type: 'result', packages: 0, bytes: 0, kept: 4, forgottenProjects: 0 },
    ]);
    rmSync(one, { recursive: true });
    assert.ok(existsSync(folderOf('right')));
    const [pruned] = store('prune').succeeded().lines;
    assert.ok(pruned.bytes > 0);
    assert.deepEqual({ ...pruned, bytes: 0 }, { type: 'result', packages: 2, bytes: 0, kept: 2, forgottenProjects: 1 });
    assert.deepEqual(names(), ['executable', 'left']);
    assert.deepEqual(readdirSync(join(workspace.folder, 'store', 'v1', 'temporary')), []);
    workspace.gantryIn(other, 'ci', '--offline').succeeded();

    // What links tell of stays, too, where nothing is noted of its project.
    rmSync(join(workspace.folder, 'store', 'v1', 'projects'), { recursive: true });
    const [file] = [join(folderOf('left'), 'files', 'package.json')];
    const isLinked = statSync(file).nlink > 1;
    assert.equal(store('prune').succeeded().lines[0].kept, isLinked ? 2 : 0);
  });

  test('passes over what names no project among what it notes of projects', (context) => {
    const { workspace, one, other, store } = installed(context);
    const notes = join(workspace.folder, 'store', 'v1', 'projects');
    const [cut, folder] = readdirSync(notes);
    const wholes = [cut, folder].map((name) => readFileSync(join(notes, name), 'utf8'));
    assert.deepEqual(wholes.sort(), [one, other]);
    // What an install that was killed had not given its name yet, as it once was done.
    writeFileSync(join(notes, `.gantry-${cut}-1f2e-18d3a5b6c7d8e9f0-0`), one);
    truncateSync(join(notes, cut));
    unlinkSync(join(notes, folder));
    mkdirSync(join(notes, folder));
    symlinkSync('nowhere', join(notes, '0123456789abcdef0123456789abcdef'));
    for (const words of [['ls'], ['verify'], ['status']]) store(...words).succeeded();
    // Where there is a project: it is not the one that is meant.
    assert.equal(workspace.gantryIn(one, 'store', 'status', '--json').succeeded().lines[0].projects, 0);
    assert.equal(store('prune').succeeded().lines[0].forgottenProjects, 4);
    assert.deepEqual(readdirSync(notes), []);
    for (const project of [one, other]) workspace.gantryIn(project, 'ci').succeeded();
    assert.deepEqual(readdirSync(notes).sort(), [cut, folder].sort());
    assert.equal(store('status').succeeded().lines[0].projects, 2);
  });

  test('loses what processes that died had in hand, and not what an install has that still runs', async (context) => {
    const { workspace, one, store } = installed(context);
    const temporary = join(workspace.folder, 'store', 'v1', 'temporary');
    const die = () => {
      mkdirSync(join(temporary, 'package-1f2e-18d3a5b6c7d8e9f0-0'), { recursive: true });
      writeFileSync(join(temporary, 'package-1f2e-18d3a5b6c7d8e9f0-0', 'index.js'), 'half');
    };
    const late = workspace.project('late', manifest({ deprecated: '1' }));
    const install = await hanging(context, workspace, late);
    const ended = new Promise((settle) => install.on('exit', settle));
    die();
    workspace.gantryIn(one, 'ci').succeeded();
    assert.equal(readdirSync(temporary).length, 1, 'it may be of the one that still runs');
    install.kill('SIGKILL');
    await ended;
    workspace.gantryIn(one, 'install').succeeded();
    assert.deepEqual(readdirSync(temporary), []);
    die();
    store('prune').succeeded();
    assert.deepEqual(readdirSync(temporary), []);
    await control(suite.registry, 'DELETE', 'faults');
  });

  test('is not pruned under an install', async (context) => {
    const { workspace, one, names } = installed(context);
    rmSync(one, { recursive: true });
    const late = workspace.project('late', manifest({ '@scope/middle': '^1.0.0', deprecated: '1' }));
    const install = await hanging(context, workspace, late);

    const prune = spawn(gantryCommand, ['store', 'prune', '--json'], { env: workspace.environment });
    const [out, ended] = [text(prune.stdout), new Promise((settle) => prune.on('exit', settle))];
    const waits = spawn(gantryCommand, ['store', 'prune'], { env: workspace.environment });
    context.after(() => waits.kill('SIGKILL'));
    const [said] = await once(waits.stderr);
    assert.equal(said, 'waiting for installs that use the store\n');
    assert.ok(names().includes('right'), 'what the install relies on is there');
    assert.equal(prune.exitCode, null);
    install.kill('SIGKILL');
    assert.equal(await ended, 0);
    await new Promise((settle) => (waits.exitCode === null ? waits.on('exit', settle) : settle()));
    assert.equal(JSON.parse(await out).type, 'result');
    assert.deepEqual(names(), ['executable', 'left']);
    await control(suite.registry, 'DELETE', 'faults');
  });

  test('is emptied, also by the words for npm’s cache', (context) => {
    const { workspace, one, store } = installed(context);
    const before = workspace.gantryIn(one, 'digest').stdout;
    for (const words of [
      ['store', 'clear'],
      ['cache', 'clean', '--force'],
    ]) {
      assert.equal(workspace.gantry(...words).succeeded().stdout, 'the store is empty\n');
      assert.deepEqual(readdirSync(join(workspace.folder, 'store', 'v1')), []);
      assert.equal(workspace.gantryIn(one, 'digest').stdout, before);
      assert.equal(workspace.gantryIn(one, 'ci', '--offline', '--json').lines.at(-1).code, 'REGISTRY_NOT_CACHED');
      workspace.gantryIn(one, 'ci').succeeded();
      assert.equal(store('status').succeeded().lines[0].packages, 3);
    }
  });

  test('that is not there is empty, and stays so', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const results = ['status', 'ls', 'verify', 'prune', 'clear'].map((action) =>
      workspace.gantry('store', action).succeeded(),
    );
    assert.match(results[0].stdout, /^0 packages, 0 files, /);
    assert.equal(results[2].stdout, '0 packages are whole\n');
    assert.ok(!existsSync(join(workspace.folder, 'store')));
    const wrong = workspace.gantry('store', 'burn');
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /path, status, ls, verify, prune, clear/);
  });
});

/** All that a stream says. */
async function text(stream) {
  let all = '';
  for await (const piece of stream.setEncoding('utf8')) all += piece;
  return all;
}

/** What a stream says first. */
function once(stream) {
  return new Promise((settle) => stream.setEncoding('utf8').once('data', (piece) => settle([piece])));
}
