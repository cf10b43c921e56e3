// npm's settings given as options, in the forms that npm takes them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Pair } from './lib/pair.mjs';
import { fixturesForSuite, Workspace } from './lib/programs.mjs';

const fields = {
  name: 'project',
  version: '1.0.0',
  dependencies: { left: '1' },
  devDependencies: { executable: '1' },
  optionalDependencies: { deprecated: '1' },
};
const EVERYTHING = ['left', 'executable', 'deprecated'];

describe('settings of npm as options', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();
  const pairOf = (context, files = {}) => new Pair(context, suite.registry, { 'package.json': fields, ...files });
  const installed = (folder) => EVERYTHING.filter((name) => existsSync(join(folder, 'node_modules', name)));

  test('lock and tree are those of npm, whatever the form', (context) => {
    const pair = pairOf(context);
    const steps = [
      ['install --package-lock=false --no-optional', ['left', 'executable']],
      ['install --no-audit --no-fund --legacy-peer-deps=true --loglevel=error --no-progress', EVERYTHING],
      ['ci --no-audit --no-fund -f --production', ['left', 'deprecated']],
      ['ci --only=prod --no-optional --strict-ssl=false --prefer-offline=true -s --fetch-retries 5', ['left']],
      ['ci --omit dev --omit=optional --include=optional --audit false', ['left', 'deprecated']],
      ['ci --prod --silent --color always', ['left', 'deprecated']],
      ['ci --production=false --omit=', EVERYTHING],
      ['install --save=false right', EVERYTHING],
      ['install -DE right --no-save=false', EVERYTHING],
      ['uninstall --save-dev right', EVERYTHING],
      ['install --package-lock-only=true --lockfile-version=2 --no-legacy-peer-deps', EVERYTHING],
      ['install --install-strategy nested @scope/middle --no-save-exact', EVERYTHING],
    ];
    for (const [line, expected] of steps) {
      const [command, ...words] = line.split(' ');
      pair.same(line, command, words);
      assert.deepEqual(installed(pair.folders[0]), expected, line);
    }
    const lock = JSON.parse(readFileSync(join(pair.folders[0], 'package-lock.json'), 'utf8'));
    assert.equal(lock.lockfileVersion, 2);
  });

  test('registries and files of settings may be named, and go before those of the project', (context) => {
    const pair = pairOf(context, { 'package.json': { name: 'project', dependencies: { '@scope/middle': '1' } } });
    const { environment, folder } = pair.workspace;
    environment.npm_config_registry = 'http://127.0.0.1:9/';
    pair.write({ '.npmrc': 'lockfile-version=1\n' });
    const user = join(folder, 'other.npmrc');
    writeFileSync(user, `registry=${suite.registry}\nlockfile-version=2\n`);
    delete environment.npm_config_userconfig;
    const own = [`--@scope:registry=${suite.registry}`, `--//${new URL(suite.registry).host}/:_authToken=\${SECRET}`];
    environment.SECRET = 'token';
    pair.same('each its own', 'install', [...own, `--reg=${suite.registry}`, '--userconfig', user]);
    pair.remove('node_modules');
    pair.remove('package-lock.json');
    delete environment.npm_config_registry;
    pair.same('by the file', 'install', ['--userconfig', user, '--package-lock-only', '--lockfile-version', 'null']);
    assert.ok(!existsSync(join(pair.folders[0], 'node_modules')));
  });

  test('the folder that a command is started in can be named, and is the project then', (context) => {
    const pair = pairOf(context);
    for (const folder of pair.folders) mkdirSync(join(folder, 'inside'));
    pair.same('here', 'install', ['--prefix', '.', 'left'], 'inside');
    assert.ok(existsSync(join(pair.folders[0], 'inside', 'node_modules', 'left')));
    assert.deepEqual(installed(pair.folders[0]), []);
    pair.same('the nearest', 'install', [], 'inside');
    pair.workspace.environment.HOME = join(pair.folders[0], '..');
    const [ours] = pair.folders;
    pair.workspace.gantry('--silent', '-C=~/project', 'install', '--production').succeeded();
    assert.deepEqual(installed(ours), ['left', 'deprecated']);
  });

  test('what changes the result and is not there is refused, and nothing happens', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', { 'package.json': fields });
    const lines = ['-g', '--global', '--global=true', '--location=global'];
    for (const option of lines) {
      const run = workspace.gantryIn(project, 'dedupe', option, '--json');
      assert.deepEqual([run.status, run.lines.at(-1).code], [1, 'CONFIG_UNSUPPORTED'], option);
      assert.match(run.lines.at(-1).hint, /option/);
      assert.ok(!existsSync(join(project, 'package-lock.json')), option);
    }
  });

  test('every setting of npm is known, with what it takes', (context) => {
    const npm = createRequire(import.meta.resolve('npm/package.json'));
    const { definitions, shorthands } = npm('@npmcli/config/lib/definitions');
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', { 'package.json': { name: 'project' } });
    const isWrong = (...words) => {
      const { status, stderr } = workspace.gantryIn(project, 'why', 'left', ...words);
      assert.ok([0, 1, 2].includes(status), `${words}: ${stderr}`);
      return status === 2;
    };
    assert.ok(isWrong('--no-such-setting'));
    const wrong = [];
    const expect = (wanted, ...words) => {
      if (isWrong(...words) !== wanted) wrong.push(words.join(' '));
    };
    for (const [key, { type }] of Object.entries(definitions)) {
      // A command of its own.
      if (key === 'versions') continue;
      const types = [type].flat();
      const isSwitch = types.includes(Boolean);
      const isList = types.includes(Array);
      // Gantry's own option, which this command has nothing for.
      expect(!isSwitch || key === 'timing', `--${key}`);
      expect(!isSwitch && (isList || !types.includes(null)), `--no-${key}`);
      expect(isSwitch && !types.includes(String), `--${key}=text`);
      expect(isSwitch && !types.includes(null), `--${key}=null`);
      const word = types.includes('always') ? 'always' : isSwitch ? 'false' : '1';
      expect(false, `--${key}`, word);
    }
    for (const [short, words] of Object.entries(shorthands)) {
      const [name] = words;
      const { type } = definitions[name.replace(/^--(no-)?/, '')];
      const lacks = words.length === 1 && ![type].flat().includes(Boolean);
      expect(lacks, `${short.length === 1 ? '-' : '--'}${short}`);
    }
    assert.deepEqual(wrong, []);
  });
});
