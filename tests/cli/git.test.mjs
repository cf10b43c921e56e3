// Dependencies in git repositories: gantry and npm come to the same lock and tree, and say no to the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { Pair } from './lib/pair.mjs';
import { registryForSuite, Workspace } from './lib/programs.mjs';
import { Repository, startHost } from './lib/repository.mjs';

const root = (dependencies) => ({ name: 'root', version: '1.0.0', dependencies });
/** A repository with a history of three versions, a branch and a folder that is a package of its own. */
class Tool extends Repository {
  constructor(folder) {
    super(folder);
    this.write({
      'package.json': {
        name: 'tool',
        version: '1.0.0',
        main: 'lib/index.js',
        bin: 'bin/tool.js',
        files: ['lib'],
        dependencies: { left: '^1.0.0' },
      },
      'lib/index.js': 'module.exports = 1;\n',
      'lib/.npmignore': 'left-out.js\n',
      'lib/left-out.js': '',
      'bin/tool.js': '#!/usr/bin/env node\n',
      'src/index.ts': 'export default 1;\n',
      'README.md': '# tool\n',
      'part/package.json': { name: 'part', version: '0.1.0' },
    });
    chmodSync(join(folder, 'bin/tool.js'), 0o755);
    symlinkSync('lib/index.js', join(folder, 'lib/link.js'));
    this.commit('first', 'v1.0.0');
    this.write({
      'package.json': { name: 'tool', version: '1.1.0', dependencies: { left: '1.0.0' } },
      '.gitignore': 'dist\n',
    });
    this.commit('second');
    this.git('tag', '--annotate', '--message', 'second', 'release-v1.1.0');
    this.git('branch', 'stable');
    this.write({ 'package.json': { name: 'tool', version: '2.0.0', scripts: { prepare: 'false' }, license: 'MIT' } });
    this.commit('third', 'v2.0.0');
  }
}

describe('git', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );

  test('branches, tags, ranges, commits and what comes later', (context) => {
    const pair = new Pair(context, registry, {});
    const repository = new Tool(join(pair.workspace.folder, 'tool'));
    const address = `git+file://${repository.folder}`;
    const first = repository.git('rev-parse', 'v1.0.0');
    pair.write({
      'package.json': root({
        head: address,
        branch: `${address}#stable`,
        tag: `${address}#v1.0.0`,
        annotated: `${address}#release-v1.1.0`,
        range: `${address}#semver:^1.0.0`,
        commit: `${address}#${first}`,
        before: `${address}#HEAD~2`,
        part: `${address}#path:part`,
      }),
    });
    pair.same('first');
    const inodes = () => {
      const modules = join(pair.folders[0], 'node_modules');
      return readdirSync(modules).map((name) => [name, lstatSync(join(modules, name)).ino]);
    };
    const before = inodes();
    pair.same('again');
    assert.deepEqual(inodes(), before, 'what is there stays');
    pair.same('from the lock', 'ci');
    for (const folder of pair.folders) rmSync(join(folder, 'node_modules'), { recursive: true });
    rmSync(join(pair.workspace.folder, 'store'), { recursive: true });
    pair.same('from the lock, with nothing stored', 'ci');

    repository.write({ 'package.json': { name: 'tool', version: '2.1.0' } });
    repository.commit('fourth');
    pair.same('a branch that has moved stays where it was');
    pair.write({
      'package.json': root({ branch: `${address}#main`, tag: `${address}#v2.0.0`, range: `${address}#semver:2` }),
    });
    pair.same('other branches, tags and ranges are asked for');
  });

  test('the lock of one is the lock of the other', (context) => {
    const pair = new Pair(context, registry, {});
    const repository = new Tool(join(pair.workspace.folder, 'tool'));
    pair.write({ 'package.json': root({ tool: `git+file://${repository.folder}#stable` }) });
    pair.same('first');
    const [ours, theirs] = pair.folders;
    pair.workspace.npm(ours, 'ci', '--ignore-scripts').succeeded();
    pair.workspace.gantry('ci', '--prefix', theirs).succeeded();
  });

  test('repositories are added by their address, and get their names from what is there', (context) => {
    const pair = new Pair(context, registry, {});
    const repository = new Tool(join(pair.workspace.folder, 'tool'));
    const address = `git+file://${repository.folder}`;
    pair.write({ 'package.json': root({}) });
    pair.same('the head', 'install', [address]);
    pair.same('a range', 'install', [`${address}#semver:^1.0.0`]);
    pair.same('under another name', 'install', ['-D', `other@${address}#v1.0.0`]);
    pair.same('a bare name asks again', 'install', ['tool']);
    pair.same('removed', 'uninstall', ['tool']);
    pair.same('updated', 'update');
    pair.write({ '.npmrc': 'allow-git=none\n' });
    pair.fail('not allowed', 'RESOLVE_NOT_ALLOWED', 'install', [address]);
    pair.remove('.npmrc');
    pair.fail('a branch that is not there', 'GIT_REVISION', 'install', [`${address}#nowhere`]);
  });

  test('what is not there is an error that says so', (context) => {
    const pair = new Pair(context, registry, {});
    const repository = new Tool(join(pair.workspace.folder, 'tool'));
    const address = `git+file://${repository.folder}`;
    const failing = (wanted, code) => {
      pair.write({ 'package.json': root({ tool: wanted }) });
      return pair.fail(wanted, code);
    };
    assert.match(failing(`${address}#nowhere`, 'GIT_REVISION').message, /nowhere/);
    assert.match(failing(`${address}#semver:^7`, 'GIT_REVISION').message, /no tag in the range \^7/);
    assert.match(failing(`${address}/missing`, 'GIT_FAILED').message, /ls-remote/);
    failing(`${address}#${'0'.repeat(40)}`, 'GIT_REVISION');
    repository.git('rm', '--quiet', 'package.json');
    repository.commit('nothing to install');
    assert.match(failing(`${address}#main`, 'GIT_FAILED').message, /no package\.json/);
  });

  test('a script that would prepare it is told of', (context) => {
    const pair = new Pair(context, registry, {});
    const repository = new Tool(join(pair.workspace.folder, 'tool'));
    pair.write({ 'package.json': root({ tool: `git+file://${repository.folder}` }) });
    const run = pair.workspace.gantry('install', '--prefix', pair.folders[0], '--json').succeeded();
    const warnings = run.lines.filter(({ type }) => type === 'warning').map(({ code }) => code);
    assert.deepEqual(warnings, ['GIT_NOT_PREPARED']);
  });

  test('a manifest that begins with a byte order mark is read like any other', (context) => {
    const pair = new Pair(context, registry, {});
    const repository = new Repository(join(pair.workspace.folder, 'marked'));
    const text = { name: 'marked', version: '1.0.0', files: ['a.js'], scripts: { prepare: 'false' } };
    repository.write({ 'package.json': `\u{feff}${JSON.stringify(text)}`, 'a.js': '', 'b.js': '' });
    repository.commit('first');
    pair.write({ 'package.json': root({ marked: `git+file://${repository.folder}` }) });
    const run = pair.same('its list of files counts');
    assert.match(run.stderr, /its "prepare" script is not run/);
  });

  test('allow-git and its like are heeded, from a lock too', (context) => {
    const pair = new Pair(context, registry, {});
    const repository = new Tool(join(pair.workspace.folder, 'tool'));
    const address = `git+file://${repository.folder}`;
    const outer = new Tool(join(pair.workspace.folder, 'outer'));
    outer.write({ 'package.json': { name: 'outer', version: '3.0.0', dependencies: { tool: address } } });
    outer.commit('it depends on a repository');
    pair.write({ 'package.json': root({ outer: `git+file://${outer.folder}` }) });
    pair.same('everything is allowed');
    for (const [setting, fails] of [
      ['none', true],
      ['root', true],
      ['all', false],
    ]) {
      pair.write({ '.npmrc': `allow-git=${setting}\n` });
      if (fails) pair.fail(`allow-git=${setting}`, 'RESOLVE_NOT_ALLOWED', 'ci');
      else pair.same(`allow-git=${setting}`, 'ci');
      pair.remove('node_modules');
    }
    pair.write({ '.npmrc': 'allow-git=none\n' });
    pair.remove('package-lock.json');
    assert.match(pair.fail('without a lock', 'RESOLVE_NOT_ALLOWED').message, /"git" are not allowed/);
    pair.write({ 'package.json': root({ tool: address }), '.npmrc': 'allow-git=root\n' });
    pair.same('what the project asks for itself');
    pair.write({
      'package.json': { ...root({ left: '1.0.0' }), optionalDependencies: { tool: address } },
      '.npmrc': 'allow-git=none\n',
    });
    pair.remove('node_modules');
    pair.remove('package-lock.json');
    pair.same('what is optional is left out');
  });

  test('nothing is done in the repository whose hook runs the command', (context) => {
    const workspace = new Workspace(context, registry);
    const tool = new Tool(join(workspace.folder, 'tool'));
    const own = new Tool(join(workspace.folder, 'own'));
    own.write({
      'package.json': root({ tool: `git+file://${tool.folder}#stable` }),
      'staged.txt': 'not committed yet',
    });
    own.git('add', '--all');
    const state = () => [
      own.git('symbolic-ref', 'HEAD'),
      own.git('rev-parse', 'HEAD'),
      own.git('diff', '--cached', '--name-only'),
      readdirSync(join(own.folder, '.git')),
    ];
    const before = state();
    const [git, index] = ['.git', '.git/index'].map((name) => join(own.folder, name));
    // What git tells hooks, in a linked worktree most of it.
    Object.assign(workspace.environment, {
      GIT_DIR: git,
      GIT_INDEX_FILE: index,
      GIT_PREFIX: '',
      GIT_WORK_TREE: own.folder,
    });
    workspace.gantryIn(own.folder, 'install').succeeded();
    assert.equal(JSON.parse(readFileSync(join(own.folder, 'node_modules/tool/package.json'), 'utf8')).version, '1.1.0');
    assert.deepEqual(state(), before);
  });

  test('what fails in passing is asked for again, and what fails for good is not', (context) => {
    const pair = new Pair(context, registry, {});
    const { folder, environment } = pair.workspace;
    const repository = new Tool(join(folder, 'tool'));
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    mkdirSync(join(folder, 'bin'));
    // Fails once with what is written in a file, whoever asks.
    const stands = `#!/bin/sh
case " $* " in *" ls-remote "*)
  echo asked >> "${folder}/asked"
  if [ -s "${folder}/failure" ]; then cat "${folder}/failure" >&2; : > "${folder}/failure"; exit 128; fi;;
esac
exec "${real}" "$@"
`;
    writeFileSync(join(folder, 'bin', 'git'), stands, { mode: 0o755 });
    environment.PATH = `${folder}/bin:${environment.PATH}`;
    // Those of npm for git, too.
    Object.assign(environment, { npm_config_fetch_retries: '2', npm_config_fetch_retry_mintimeout: '10' });
    pair.write({ 'package.json': root({ tool: `git+file://${repository.folder}#stable` }) });
    const install = (failure, run) => {
      writeFileSync(join(folder, 'failure'), failure);
      writeFileSync(join(folder, 'asked'), '');
      return { status: run().status, asked: readFileSync(join(folder, 'asked'), 'utf8').split('\n').length - 1 };
    };
    const [ours, theirs] = pair.folders;
    const gantry = () => pair.workspace.gantryIn(ours, 'install');
    const npm = () => pair.workspace.npm(theirs, 'install', '--ignore-scripts');
    const passing = 'fatal: unable to access: The requested URL returned error: 503';
    assert.deepEqual(install(passing, gantry), { status: 0, asked: 2 });
    assert.deepEqual(install(passing, npm).status, 0);
    for (const folder of pair.folders) rmSync(join(folder, 'package-lock.json'));
    pair.remove('node_modules');
    const lasting = 'fatal: could not read Username: terminal prompts disabled';
    assert.deepEqual(install(lasting, gantry), { status: 1, asked: 1 });
    assert.notEqual(install(lasting, npm).status, 0);
  });

  test('the ssh and the askpass of the user are those that git is configured with', (context) => {
    const pair = new Pair(context, registry, {});
    const { folder, environment } = pair.workspace;
    const repository = new Tool(join(folder, 'tool'));
    for (const name of ['GIT_ASKPASS', 'GIT_SSH_COMMAND', 'XDG_CONFIG_HOME']) delete environment[name];
    Object.assign(environment, { HOME: folder, LOG: join(folder, 'log'), PATH: `${folder}/bin:${environment.PATH}` });
    // Both stand for ssh: they note how they were called, and run what the other side would.
    const program = (name) => {
      const path = join(folder, 'bin', name);
      const note = `echo "${name} $* askpass=\${GIT_ASKPASS-none}" >> "$LOG"`;
      const serve = `git upload-pack "${repository.folder}"`;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `#!/bin/sh\n[ "$1" = -G ] && exit 1\n${note}\n${serve}\n`, { mode: 0o755 });
      return path;
    };
    program('ssh');
    const own = program('own-ssh');
    pair.write({ 'package.json': root({ tool: 'git+ssh://git@host.test/tool.git#stable' }) });
    /** What was noted while both installed anew: every call once, without where it led to. */
    const noted = (step) => {
      writeFileSync(environment.LOG, '');
      pair.remove('node_modules');
      pair.remove('package-lock.json');
      rmSync(join(folder, 'store'), { recursive: true, force: true });
      rmSync(join(folder, 'npm-cache'), { recursive: true, force: true });
      pair.same(step);
      const lines = readFileSync(environment.LOG, 'utf8').trim().split('\n');
      const told = lines.map((line) => line.replace(/(-o SendEnv=\S+ )?git@host\.test .* (?=askpass)/, ''));
      return [...new Set(told)];
    };
    const trusting = '-oStrictHostKeyChecking=accept-new';
    assert.deepEqual(noted('nothing is configured'), [`ssh ${trusting} askpass=echo`]);
    const configured = { ssh: `sshCommand = ${own}`, askpass: 'askpass = my-askpass' };
    writeFileSync(join(folder, '.gitconfig'), `[core]\n  ${configured.ssh}\n`);
    assert.deepEqual(noted('an ssh'), ['own-ssh askpass=echo']);
    writeFileSync(join(folder, '.gitconfig'), `[core]\n  ${configured.askpass}\n`);
    assert.deepEqual(noted('an askpass'), [`ssh ${trusting} askpass=none`]);
    writeFileSync(join(folder, '.gitconfig'), `[core]\n  ${configured.ssh}\n  ${configured.askpass}\n`);
    assert.deepEqual(noted('both'), ['own-ssh askpass=none']);
    environment.GIT_SSH_COMMAND = 'ssh -oUser=me';
    assert.deepEqual(noted('the environment comes first'), ['ssh -oUser=me askpass=none']);

    // npm knows of one file, and of one way to write these names.
    const [ours] = pair.folders;
    delete environment.GIT_SSH_COMMAND;
    rmSync(join(folder, '.gitconfig'));
    environment.XDG_CONFIG_HOME = join(folder, 'configuration');
    mkdirSync(join(folder, 'configuration', 'git'), { recursive: true });
    writeFileSync(join(folder, 'configuration', 'git', 'config'), `[CORE]\n  SSHCommand = ${own}\n  askPass = mine\n`);
    writeFileSync(environment.LOG, '');
    for (const made of ['node_modules', 'package-lock.json']) rmSync(join(ours, made), { recursive: true });
    rmSync(join(folder, 'store'), { recursive: true });
    pair.workspace.gantry('install', '--prefix', ours).succeeded();
    const calls = readFileSync(environment.LOG, 'utf8').trim().split('\n');
    for (const call of calls) assert.match(call, /^own-ssh .* askpass=none$/);
  });

  test('a host that says nothing is given up, unless git is configured otherwise', async (context) => {
    const workspace = new Workspace(context, registry);
    const { folder, environment } = workspace;
    // What connects is let in by the system and hears nothing: this process waits for the command.
    const silent = createServer();
    await new Promise((listening) => silent.listen(0, '127.0.0.1', listening));
    context.after(() => silent.close());
    const address = `http://127.0.0.1:${silent.address().port}/`;
    const project = workspace.project('project', { 'package.json': root({ tool: `git+${address}tool.git` }) });
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    // It notes what it is called with, and has no patience.
    const impatient = `#!/bin/sh
[ "$2" = ls-remote ] && env | grep GIT_HTTP_LOW_SPEED | sort >> "${folder}/noted"
[ -n "$GIT_HTTP_LOW_SPEED_TIME" ] && export GIT_HTTP_LOW_SPEED_TIME=1
exec "${real}" "$@"
`;
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'git'), impatient, { mode: 0o755 });
    Object.assign(environment, { HOME: folder, PATH: `${folder}/bin:${environment.PATH}` });
    /** What git was told of patience. */
    const noted = () => {
      writeFileSync(join(folder, 'noted'), '');
      const { status, lines } = workspace.gantry('install', '--prefix', project, '--json');
      const { code, message, package: name } = lines.at(-1);
      assert.deepEqual([status, code, name], [1, 'GIT_FAILED', 'tool'], message);
      assert.match(message, /^tool@.* could not be fetched: git ls-remote failed: .*too slow/i);
      return readFileSync(join(folder, 'noted'), 'utf8').trim().split('\n').filter(Boolean);
    };
    assert.deepEqual(noted(), ['GIT_HTTP_LOW_SPEED_LIMIT=1', 'GIT_HTTP_LOW_SPEED_TIME=300']);
    for (const section of ['http', `http "${address}"`]) {
      writeFileSync(join(folder, '.gitconfig'), `[${section}]\n  lowSpeedLimit = 1000\n  lowSpeedTime = 1\n`);
      assert.deepEqual(noted(), [], section);
    }
    environment.GIT_HTTP_LOW_SPEED_TIME = '2';
    assert.deepEqual(noted(), ['GIT_HTTP_LOW_SPEED_TIME=2']);
  });

  test('a known host: references by git or over HTTPS, contents as an archive', async (context) => {
    const pair = new Pair(context, registry, {});
    const repositories = join(pair.workspace.folder, 'repositories');
    const repository = new Tool(join(repositories, 'someone', 'tool.git'));
    symlinkSync('tool.git', join(repositories, 'someone', 'tool'));
    const host = await startHost(context, repositories);
    const git = { GIT_CONFIG_GLOBAL: join(repositories, 'gitconfig'), GIT_ALLOW_PROTOCOL: 'file' };
    writeFileSync(git.GIT_CONFIG_GLOBAL, `[url "file://${repositories}/"]\n  insteadOf = https://github.com/\n`);
    Object.assign(pair.workspace.environment, git, { NO_PROXY: '127.0.0.1,localhost' });
    pair.write({
      '.npmrc': `https-proxy=${host.proxy}\nnoproxy=127.0.0.1\ncafile=${host.authority}\n`,
      'package.json': root({
        tool: 'someone/tool#stable',
        range: 'github:someone/tool#semver:1.0.0',
        head: 'someone/tool',
      }),
    });
    pair.same('with git');
    const [ours] = pair.folders;
    assert.match(
      readFileSync(join(ours, 'package-lock.json'), 'utf8'),
      /"git\+ssh:\/\/git@github\.com\/someone\/tool\.git#[0-9a-f]{40}"/,
    );
    pair.same('from the lock', 'ci');
    const written = readFileSync(join(ours, 'package-lock.json'), 'utf8');
    pair.write({ 'package-lock.json': written.replaceAll('git+ssh://git@', 'git+https://') });
    pair.same('from a lock that was edited for machines without ssh', 'ci');
    pair.same('which the next install takes back');
    assert.equal(readFileSync(join(ours, 'package-lock.json'), 'utf8'), written);

    // One alone: of several packages with the same command npm links the one that was installed last.
    const manifest = readFileSync(join(ours, 'package.json'), 'utf8');
    pair.write({ 'package.json': root({}) });
    pair.same('nothing');
    pair.same('by its shortcut', 'install', ['someone/tool#stable']);
    pair.same('by its address', 'install', ['git+https://github.com/someone/tool.git#v1.0.0']);
    assert.match(readFileSync(join(ours, 'package.json'), 'utf8'), /"tool": "github:someone\/tool#v1\.0\.0"/);
    pair.write({ 'package.json': manifest });
    for (const made of ['node_modules', 'package-lock.json']) pair.remove(made);
    pair.same('as before');

    const lock = readFileSync(join(ours, 'package-lock.json'), 'utf8');
    pair.remove('node_modules');
    pair.workspace.gantry('ci', '--prefix', ours, '--offline').succeeded();
    pair.remove('node_modules');
    rmSync(join(pair.workspace.folder, 'store'), { recursive: true });
    const offline = pair.workspace.gantry('ci', '--prefix', ours, '--offline', '--json');
    assert.equal(offline.lines.at(-1).code, 'REGISTRY_NOT_CACHED');
    rmSync(join(ours, 'package-lock.json'));
    pair.workspace.environment.PATH = '/nowhere';
    const before = host.asked().length;
    pair.workspace.gantry('install', '--prefix', ours).succeeded();
    assert.equal(readFileSync(join(ours, 'package-lock.json'), 'utf8'), lock, 'without git the lock is the same');
    const asked = host
      .asked()
      .slice(before)
      .map((url) => new URL(url).pathname.split('/').slice(0, 4).join('/'));
    assert.ok(asked.includes('/someone/tool.git/info'), 'references were asked for over HTTPS');
    pair.workspace.gantry('uninstall', 'tool', '--prefix', ours).succeeded();
    pair.workspace.gantry('install', 'someone/tool#stable', '--prefix', ours).succeeded();
    const resolved = (text) => JSON.parse(text).packages['node_modules/tool'].resolved;
    assert.equal(
      resolved(readFileSync(join(ours, 'package-lock.json'), 'utf8')),
      resolved(lock),
      'added without git, too',
    );

    pair.write({ 'package.json': root({ tool: `git+file://${repository.folder}` }) });
    const refused = pair.workspace.gantry('install', '--prefix', ours, '--json');
    assert.match(refused.lines.at(-1).message, /git is not here/);
  });
});
