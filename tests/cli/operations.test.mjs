// What those meet who run the command on servers: signals, files that may not be written, where the store is, output that is lost.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { listing } from './lib/pair.mjs';
import { control, fixturesForSuite, gantryCommand, Workspace } from './lib/programs.mjs';

const manifest = (dependencies, more = {}) => ({
  'package.json': { name: 'project', version: '1.0.0', dependencies, ...more },
});
const isRoot = process.getuid() === 0;
/** Whether files can be made immutable here. */
const canProtect = isRoot && spawnSync('chattr', ['-V']).error === undefined;
const ended = (child) => new Promise((settle) => child.on('exit', (code, signal) => settle(code ?? signal)));

describe('operations', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ]) {
    test(`${signal} leaves the project as it was`, async (context) => {
      const workspace = new Workspace(context, suite.registry);
      const project = workspace.project('project', manifest({ left: '1.0.0' }));
      workspace.gantryIn(project, 'install').succeeded();
      const before = listing(project);
      await control(suite.registry, 'POST', 'faults', [{ path: '/executable/-/', kind: 'hang-before-headers' }]);
      const { faults } = await control(suite.registry, 'GET', 'stats');
      const child = spawn(gantryCommand, ['install', 'executable', '--json'], {
        cwd: project,
        env: workspace.environment,
      });
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (piece) => {
        out += piece;
      });
      const end = ended(child);
      while ((await control(suite.registry, 'GET', 'stats')).faults === faults)
        await new Promise((settle) => setTimeout(settle, 20));
      child.kill(signal);
      assert.equal(await end, status);
      assert.equal(JSON.parse(out.trim().split('\n').at(-1)).code, 'CANCELLED');
      assert.deepEqual(listing(project), before);
      await control(suite.registry, 'DELETE', 'faults');
    });
  }

  test('nothing is left of a large tarball that was being unpacked', async (context) => {
    // npm's archive reader passes over what is no header, so that any bytes will do.
    const body = gzipSync(randomBytes(3 << 20));
    const server = createHttpServer((_request, response) => {
      response.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, 1 << 20));
    });
    await new Promise((settle) => server.listen(0, '127.0.0.1', settle));
    context.after(() => server.close().closeAllConnections());
    const large = {
      version: '1.0.0',
      resolved: `http://127.0.0.1:${server.address().port}/large/-/large-1.0.0.tgz`,
      integrity: `sha512-${createHash('sha512').update(body).digest('base64')}`,
    };
    const root = { name: 'project', version: '1.0.0', dependencies: { large: '1.0.0' } };
    const lock = { lockfileVersion: 3, packages: { '': root, 'node_modules/large': large } };
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', { 'package.json': root, 'package-lock.json': lock });
    const temporary = join(workspace.environment.GANTRY_STORE_DIR, 'v1', 'temporary');
    const child = spawn(gantryCommand, ['ci'], { cwd: project, env: workspace.environment, stdio: 'ignore' });
    const end = ended(child);
    const unpacking = () => existsSync(temporary) && readdirSync(temporary).some((name) => name.startsWith('package-'));
    while (!unpacking()) await new Promise((settle) => setTimeout(settle, 20));
    child.kill('SIGTERM');
    assert.equal(await end, 143);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('who has it pass over a hangup, as nohup does, has it go on', {
    skip: process.platform !== 'linux',
  }, async (context) => {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', manifest({ executable: '1' }));
    await control(suite.registry, 'POST', 'faults', [{ path: '/executable/-/', kind: 'delay', ms: 1000 }]);
    const { faults } = await control(suite.registry, 'GET', 'stats');
    const words = ['-c', `trap '' HUP; exec '${gantryCommand}' install`];
    const child = spawn('sh', words, { cwd: project, env: workspace.environment, stdio: 'ignore' });
    const end = ended(child);
    while ((await control(suite.registry, 'GET', 'stats')).faults === faults)
      await new Promise((settle) => setTimeout(settle, 20));
    child.kill('SIGHUP');
    assert.equal(await end, 0);
    assert.ok(existsSync(join(project, 'node_modules/executable')));
    await control(suite.registry, 'DELETE', 'faults');
  });

  for (const file of ['package.json', 'package-lock.json']) {
    test(`a ${file} that cannot be written is said before the tree is touched`, { skip: !canProtect }, (context) => {
      const workspace = new Workspace(context, suite.registry);
      const project = workspace.project('project', manifest({ left: '1.0.0' }));
      workspace.gantryIn(project, 'install').succeeded();
      const before = listing(project);
      const path = join(project, file);
      if (spawnSync('chattr', ['+i', path]).status !== 0) return context.skip('the file system has no immutable files');
      const run = workspace.gantryIn(project, 'install', 'executable', '--json');
      spawnSync('chattr', ['-i', path]);
      assert.deepEqual([run.status, run.lines.at(-1).code], [4, 'DISK_DENIED']);
      assert.ok(run.lines.at(-1).message.includes(path), run.lines.at(-1).message);
      assert.deepEqual(listing(project), before);
    });
  }

  test('a lock that may not be written and does not change is no obstacle', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', manifest({ left: '1.0.0' }));
    workspace.gantryIn(project, 'install').succeeded();
    chmodSync(join(project, 'package-lock.json'), 0o444);
    workspace.gantryIn(project, 'install').succeeded();
  });

  test('the store is where the variable says, an empty one says nothing, and relative ones of XDG neither', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const place = (variables) => {
      const { GANTRY_STORE_DIR: _, ...environment } = workspace.environment;
      const run = spawnSync(gantryCommand, ['store', 'path'], {
        env: { ...environment, ...variables },
        encoding: 'utf8',
      });
      assert.equal(run.status, 0, run.stderr);
      return run.stdout.trim();
    };
    const HOME = workspace.folder;
    const usual = join(HOME, '.local/share/gantry/store');
    assert.equal(place({ HOME, XDG_DATA_HOME: '' }), usual);
    assert.equal(place({ HOME, XDG_DATA_HOME: 'relative' }), usual);
    assert.equal(place({ HOME, XDG_DATA_HOME: '/somewhere' }), '/somewhere/gantry/store');
    assert.equal(place({ HOME, XDG_DATA_HOME: '', GANTRY_STORE_DIR: '' }), usual);
    assert.equal(place({ HOME, GANTRY_STORE_DIR: '/else' }), '/else');
    if (isRoot) {
      const foreign = join(workspace.folder, 'foreign');
      mkdirSync(foreign);
      chownSync(foreign, 65_534, 65_534);
      const own = place({ HOME: foreign, XDG_DATA_HOME: '' });
      assert.ok(!own.startsWith(foreign), own);
    }
  });

  test('data that cannot be written is no success, a reader who has enough is', {
    skip: !existsSync('/dev/full'),
  }, (context) => {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', manifest({ left: '1.0.0' }));
    workspace.gantryIn(project, 'install').succeeded();
    const full = openSync('/dev/full', 'w');
    const run = spawnSync(gantryCommand, ['digest'], {
      cwd: project,
      env: workspace.environment,
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    assert.equal(run.status, 4, String(run.stderr));
    const piped = spawnSync('sh', ['-c', `'${gantryCommand}' why left | true; '${gantryCommand}' digest`], {
      cwd: project,
      env: workspace.environment,
    });
    assert.equal(piped.status, 0);
  });

  test('another install is waited for if it does not take long', async (context) => {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', manifest({ left: '1.0.0', executable: '1' }));
    const runs = Array.from({ length: 5 }, () =>
      ended(spawn(gantryCommand, ['ci'], { cwd: project, env: workspace.environment, stdio: 'ignore' })),
    );
    workspace.gantryIn(project, 'install').succeeded();
    await Promise.all(runs);
    const all = Array.from({ length: 5 }, () =>
      ended(spawn(gantryCommand, ['ci'], { cwd: project, env: workspace.environment, stdio: 'ignore' })),
    );
    assert.deepEqual(await Promise.all(all), [0, 0, 0, 0, 0]);
  });

  test('what npm rebuild has made in a package stays with later installs', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', manifest({ 'with-building-script': '1.0.0' }));
    const built = join(project, 'node_modules', 'with-building-script', 'built');
    const { stderr } = workspace.gantryIn(project, 'install').succeeded();
    assert.match(stderr, /did not run: with-building-script@1\.0\.0\. .*`gantry rebuild`/);
    assert.ok(!existsSync(built));
    workspace.npm(project, 'rebuild', 'with-building-script').succeeded();
    assert.ok(existsSync(built));
    for (const words of [['install'], ['install', 'left'], ['uninstall', 'left'], ['update'], ['dedupe'], ['prune']]) {
      workspace.gantryIn(project, ...words).succeeded();
      assert.ok(existsSync(built), words.join(' '));
    }
    workspace.npm(project, 'ls').succeeded();
    workspace.gantryIn(project, 'ci').succeeded();
    assert.ok(!existsSync(built));
  });

  test('a proxy that does not answer is named', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', manifest({ left: '1.0.0' }));
    Object.assign(workspace.environment, {
      HTTP_PROXY: 'http://user:secret@127.0.0.1:1',
      npm_config_fetch_retries: '0',
      NO_PROXY: '',
      no_proxy: '',
    });
    const run = workspace.gantryIn(project, 'install', '--json');
    assert.equal(run.status, 3);
    assert.match(run.lines.at(-1).message, /through the proxy http:\/\/127\.0\.0\.1:1\/?: /);
    assert.ok(!run.stdout.includes('secret'));
  });

  test('git ends with the command that has started it', { skip: process.platform !== 'linux' }, async (context) => {
    const server = createServer();
    const connected = new Promise((settle) => server.on('connection', settle));
    await new Promise((settle) => server.listen(0, '127.0.0.1', settle));
    context.after(() => server.close());
    const { port } = server.address();
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', manifest({ x: `git+http://127.0.0.1:${port}/x.git` }));
    const child = spawn(gantryCommand, ['install'], { cwd: project, env: workspace.environment, stdio: 'ignore' });
    const end = ended(child);
    const connection = await connected;
    const closed = new Promise((settle) => connection.on('close', settle));
    connection.on('error', () => {}).resume();
    child.kill('SIGTERM');
    assert.equal(await end, 143);
    await closed;
  });
});
