// Packages that are built in their git repositories: by whom the user has allowed to, and into what npm makes of them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing, Pair } from './lib/pair.mjs';
import { fixturesForSuite } from './lib/programs.mjs';
import { Repository, startHost } from './lib/repository.mjs';
import { warned } from './lib/scripts.mjs';

const root = (dependencies, fields) => ({ name: 'root', version: '1.0.0', dependencies, ...fields });
const address = (repository) => `git+file://${repository.folder}`;
/** Compiles `src` into `dist` with what is installed for it. */
const compiler = `
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { version } = require('left/package.json');
mkdirSync('dist', { recursive: true });
writeFileSync('dist/index.js', readFileSync('src/index.ts', 'utf8').replace('VERSION', version));
`;
const tool = {
  'package.json': {
    name: 'tool',
    version: '1.0.0',
    main: 'dist/index.js',
    files: ['dist'],
    scripts: { prepare: 'node build.js' },
    devDependencies: { left: '1.0.0' },
  },
  'build.js': compiler,
  'src/index.ts': 'module.exports = "VERSION";\n',
  '.gitignore': 'dist\nnode_modules\n',
};

/** A repository of these files, beside the projects. */
function repository(pair, name, files) {
  const made = new Repository(join(pair.workspace.folder, name));
  made.write(files);
  made.commit('first');
  return made;
}

/** The same project twice, whose scripts run. */
function projects(context, suite) {
  const pair = new Pair(context, suite.registry, {});
  pair.options = [];
  return pair;
}

/** What is left of building in the store. */
const left = ({ workspace }) => readdirSync(join(workspace.folder, 'store/v1/temporary'));

describe('building', { concurrency: 1 }, () => {
  const suite = fixturesForSuite('basic');

  test('a package that is prepared is what npm makes of it', (context) => {
    const pair = projects(context, suite);
    const made = repository(pair, 'tool', tool);
    pair.write({ 'package.json': root({ tool: address(made) }, { allowScripts: { [address(made)]: true } }) });
    const run = pair.same('without a lock', 'install', ['--json']);
    assert.deepEqual(warned(run, 'GIT_NOT_PREPARED'), []);
    const [ours] = pair.folders;
    assert.equal(readFileSync(join(ours, 'node_modules/tool/dist/index.js'), 'utf8'), 'module.exports = "1.0.0";\n');
    pair.same('from the lock', 'ci');
    rmSync(join(pair.workspace.folder, 'store'), { recursive: true });
    pair.same('from the lock, with nothing in the store', 'ci');
    assert.deepEqual(left(pair), []);
    pair.workspace.gantry('store', 'prune').succeeded();
    pair.same('what is in the tree stays in the store', 'ci', ['--offline']);
  });

  test('what nothing is said of is as it is in its repository, and built once it is allowed', (context) => {
    const pair = projects(context, suite);
    const made = repository(pair, 'tool', tool);
    const [ours] = pair.folders;
    const built = join(ours, 'node_modules/tool/dist/index.js');
    const install = (command, allowScripts, ...words) => {
      pair.write({ 'package.json': root({ tool: address(made) }, allowScripts && { allowScripts }) });
      return pair.workspace.gantry(command, '--prefix', ours, '--json', ...words).succeeded();
    };
    const run = install('install');
    const [warning] = warned(run, 'GIT_NOT_PREPARED');
    assert.match(warning, /^tool is installed as it is in its repository: its "prepare" script is not run\. /);
    assert.ok(!existsSync(built));
    assert.deepEqual(warned(install('ci'), 'GIT_NOT_PREPARED'), [warning]);
    const strict = pair.workspace.gantry('ci', '--prefix', ours, '--json', '--strict-allow-scripts');
    assert.equal(strict.lines.at(-1).code, 'SCRIPTS_UNREVIEWED');
    assert.match(strict.lines.at(-1).message, /: tool@1\.0\.0$/);
    assert.deepEqual(warned(install('install', { [address(made)]: false }), 'GIT_NOT_PREPARED'), []);
    const entry = JSON.parse(/\{.*\}/.exec(warning)[0]);
    const review = (...words) => pair.workspace.gantry(...words, '--prefix', ours).succeeded();
    install('install');
    assert.match(
      review('install-scripts', 'ls').stdout,
      /^1 package has .*\n {2}tool@1\.0\.0 \(prepare: node build\.js\)\n$/,
    );
    assert.match(review('approve-scripts', 'tool').stderr, /^`gantry ci` builds tool in its repository$/m);
    const { allowScripts } = JSON.parse(readFileSync(join(ours, 'package.json'), 'utf8'));
    assert.deepEqual(allowScripts, entry);
    assert.match(review('install-scripts', 'prune').stdout, /^No unused allowScripts entries\.$/m);
    install('ci', entry, '--ignore-scripts');
    assert.ok(!existsSync(built));
    install('ci', entry);
    assert.ok(existsSync(built));
    install('ci', { [address(made)]: false });
    assert.ok(!existsSync(built));
    install('ci', undefined, '--dangerously-allow-all-scripts');
    assert.ok(existsSync(built));
  });

  test('nothing but the lock builds nothing', (context) => {
    const pair = projects(context, suite);
    const made = repository(pair, 'tool', {
      ...tool,
      'package.json': { ...tool['package.json'], scripts: { prepare: 'exit 1' } },
    });
    pair.write({ 'package.json': root({ tool: address(made) }, { allowScripts: { [address(made)]: true } }) });
    const [ours] = pair.folders;
    pair.workspace.gantry('install', '--prefix', ours, '--lockfile-only').succeeded();
    pair.workspace.gantry('install', '--prefix', ours, '--dry-run').succeeded();
  });

  test('a package that cannot be built stops the install, unless it is optional', (context) => {
    const pair = projects(context, suite);
    const scripts = { prepare: 'echo what went wrong >&2; exit 3' };
    const made = repository(pair, 'tool', { ...tool, 'package.json': { ...tool['package.json'], scripts } });
    const allowScripts = { [address(made)]: true };
    const [ours] = pair.folders;
    pair.write({ 'package.json': root({ left: '1.0.0' }) });
    pair.workspace.gantry('install', '--prefix', ours).succeeded();
    const before = listing(ours);
    const added = ['install', address(made), '--prefix', ours, '--dangerously-allow-all-scripts', '--json'];
    const failed = pair.workspace.gantry(...added);
    const { code, message, hint, package: name } = failed.lines.at(-1);
    assert.deepEqual([failed.status, code, name], [1, 'GIT_BUILD_FAILED', 'tool']);
    assert.match(
      message,
      /^tool cannot be built from its repository: prepare of tool@1\.0\.0 failed: .*\nwhat went wrong$/s,
    );
    assert.match(hint, /--ignore-scripts/);
    assert.deepEqual(listing(ours), before);
    assert.deepEqual(left(pair), []);
    pair.remove('node_modules');
    pair.remove('package-lock.json');
    const optionalDependencies = { tool: address(made) };
    pair.write({ 'package.json': root({ left: '1.0.0' }, { optionalDependencies, allowScripts }) });
    const [theirs] = pair.folders.slice(1);
    pair.workspace.gantry('install', '--prefix', ours).succeeded();
    pair.workspace.npm(theirs, 'install').succeeded();
    assert.deepEqual(readdirSync(join(ours, 'node_modules')).sort(), ['.package-lock.json', 'left']);
    assert.deepEqual(listing(join(ours, 'node_modules/left')), listing(join(theirs, 'node_modules/left')));
  });

  test('scripts find the repository around them, what only development needs, and the settings of who installs', (context) => {
    const pair = projects(context, suite);
    const script = `
const { execFileSync } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const head = execFileSync('git', ['log', '-1', '--format=%s'], { encoding: 'utf8' }).trim();
const variables = ['npm_lifecycle_event', 'npm_package_name', 'npm_config_save_prefix', 'NODE_ENV'];
const found = variables.map((name) => name + '=' + process.env[name]);
writeFileSync('found.txt', [head, require('left/package.json').version, ...found].join('\\n'));
`;
    const made = repository(pair, 'tool', {
      'package.json': {
        name: 'tool',
        version: '1.0.0',
        scripts: { prepare: 'node find.js' },
        devDependencies: { left: '*' },
      },
      'find.js': script,
    });
    pair.write({
      'package.json': root({ tool: address(made) }, { allowScripts: { [address(made)]: true } }),
      '.npmrc': 'omit=dev\nsave-prefix=~\n',
    });
    pair.workspace.environment.NODE_ENV = 'production';
    pair.same('install', 'install');
    const found = readFileSync(join(pair.folders[0], 'node_modules/tool/found.txt'), 'utf8');
    assert.match(
      found,
      /^first\n\d.*\nnpm_lifecycle_event=prepare\nnpm_package_name=tool\nnpm_config_save_prefix=~\nNODE_ENV=production$/,
    );
  });

  test('what a package carries, and what is built in its workspaces, is part of it', (context) => {
    const pair = projects(context, suite);
    const carrying = repository(pair, 'carrying', {
      'package.json': {
        name: 'carrying',
        version: '1.0.0',
        scripts: { build: 'exit 1' },
        dependencies: { left: '1.0.0' },
        bundleDependencies: ['left'],
      },
      '.gitignore': 'node_modules\n',
    });
    const spaces = repository(pair, 'spaces', {
      'package.json': {
        name: 'spaces',
        version: '1.0.0',
        private: true,
        workspaces: ['part'],
        scripts: { prepare: 'node part/build.js' },
      },
      'part/package.json': { name: 'part', version: '1.0.0', devDependencies: { left: '1.0.0' } },
      'part/build.js': compiler.replace('src/index.ts', 'part/index.ts'),
      'part/index.ts': 'VERSION\n',
    });
    const allowScripts = { [address(carrying)]: true, [address(spaces)]: true };
    pair.write({ 'package.json': root({ carrying: address(carrying), spaces: address(spaces) }, { allowScripts }) });
    pair.same('install', 'install');
    const [ours] = pair.folders;
    assert.ok(existsSync(join(ours, 'node_modules/carrying/node_modules/left/package.json')));
    assert.equal(readFileSync(join(ours, 'node_modules/spaces/dist/index.js'), 'utf8'), '1.0.0\n');
  });

  test('repositories that need each other to be built are built once', (context) => {
    const pair = projects(context, suite);
    const names = ['one', 'other'];
    const [one, other] = names.map((name) => new Repository(join(pair.workspace.folder, name)));
    const log = join(pair.workspace.folder, 'log');
    pair.workspace.environment.LOG = log;
    const files = (name, needed) => ({
      'package.json': {
        name,
        version: '1.0.0',
        scripts: { prepare: 'echo $npm_package_name >> "$LOG"; echo $npm_package_name > made' },
        devDependencies: needed,
      },
    });
    one.write(files('one', { other: address(other) }));
    other.write(files('other', { one: address(one) }));
    for (const made of [one, other]) made.commit('first');
    pair.write({ 'package.json': root({ one: address(one) }) });
    const [ours] = pair.folders;
    pair.workspace.gantry('install', '--prefix', ours, '--dangerously-allow-all-scripts').succeeded();
    // The one that began is installed for the other as it is, and that is not what is installed in the end.
    assert.deepEqual(readFileSync(log, 'utf8').trim().split('\n'), ['other', 'one']);
    assert.equal(readFileSync(join(ours, 'node_modules/one/made'), 'utf8'), 'one\n');
  });

  test('what a known host has as an archive is built without git', async (context) => {
    const pair = projects(context, suite);
    const repositories = join(pair.workspace.folder, 'repositories');
    const made = new Repository(join(repositories, 'someone', 'tool'));
    made.write(tool);
    const commit = made.commit('first');
    const host = await startHost(context, repositories);
    // Everything but git.
    const programs = join(pair.workspace.folder, 'bin');
    mkdirSync(programs);
    const folders = pair.workspace.environment.PATH.split(':').filter((folder) => existsSync(folder));
    for (const folder of folders.reverse()) {
      for (const name of readdirSync(folder).filter((name) => !name.startsWith('git'))) {
        rmSync(join(programs, name), { force: true });
        symlinkSync(join(folder, name), join(programs, name));
      }
    }
    Object.assign(pair.workspace.environment, { PATH: programs, NO_PROXY: '127.0.0.1,localhost' });
    pair.write({
      '.npmrc': `https-proxy=${host.proxy}\nnoproxy=127.0.0.1\ncafile=${host.authority}\n`,
      'package.json': root({ tool: `someone/tool#${commit}` }, { allowScripts: { 'github:someone/tool': true } }),
    });
    const [ours, theirs] = pair.folders;
    pair.workspace.gantry('install', '--prefix', ours).succeeded();
    pair.workspace.npm(theirs, 'install').succeeded();
    const built = (folder) => listing(join(folder, 'node_modules/tool'));
    assert.deepEqual(built(ours), built(theirs));
    assert.ok(existsSync(join(ours, 'node_modules/tool/dist/index.js')));
  });
});
