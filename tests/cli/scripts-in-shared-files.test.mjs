// What scripts change in files that projects share with the store: it stays in their project, however they end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { listing } from './lib/pair.mjs';
import { fixturesForSuite, gantryCommand } from './lib/programs.mjs';
import { all, manifest, place, warned } from './lib/scripts.mjs';

const clean = 'module.exports = 1\n';
const text = (folder, name = 'builder') => readFileSync(join(folder, 'node_modules', name, 'index.js'), 'utf8');
const append = (file) => `node -e "require('fs').appendFileSync('${file}', '// changed\\n')"`;

describe('scripts and files that projects share', { concurrency: 1 }, () => {
  const suite = fixturesForSuite('scripts');

  test('what they make under two names is nobody else’s', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ linking: '1' }));
    const run = workspace.gantryIn(project, 'install', all, '--json').succeeded();
    assert.deepEqual([run.lines.at(-1).scriptsRun, warned(run, 'SHARED_FILES_CHANGED')], [['linking@1.0.0'], []]);
    assert.equal(workspace.gantry('store', 'verify').succeeded().stdout, '1 package is whole\n');
  });

  test('nor does it help them to hide what they change in others, or to take it away', (context) => {
    const workspace = place(context, suite);
    const file = 'node_modules/builder/index.js';
    const other = workspace.project('other', manifest({ builder: '1' }));
    workspace.gantryIn(other, 'install').succeeded();
    const { mode } = statSync(join(other, file));
    for (const [name, script] of Object.entries({
      'with its time': `touch -r ${file} time; echo changed > ${file}; touch -r time ${file}`,
      'with its time and size': `touch -r ${file} time; tr 1 2 < ${file} > new; cat new > ${file}; touch -r time ${file}`,
      'its mode': `chmod 777 ${file}`,
      'and remove it': `echo changed > ${file}; rm ${file}`,
      'and move the package': `echo changed > ${file}; mv node_modules/builder moved`,
    })) {
      const scripts = { postinstall: script };
      const project = workspace.project(name.replaceAll(' ', '-'), manifest({ builder: '1' }, { scripts }));
      const run = workspace.gantryIn(project, 'install', '--json').succeeded();
      assert.equal(warned(run, 'SHARED_FILES_CHANGED').length, 1, name);
      workspace.gantryIn(other, 'ci').succeeded();
      assert.deepEqual(
        [readFileSync(join(other, file), 'utf8'), statSync(join(other, file)).mode],
        [clean, mode],
        name,
      );
      assert.match(workspace.gantry('store', 'verify').succeeded().stdout, /^1 package is whole\n$/, name);
      assert.notDeepEqual(listing(project), listing(other), name);
    }
    const touching = { postinstall: `touch -r ${file} time; chmod 600 time; ln ${file} linked` };
    const project = workspace.project('touching', manifest({ builder: '1' }, { scripts: touching }));
    const run = workspace.gantryIn(project, 'install', '--json').succeeded();
    assert.deepEqual(warned(run, 'SHARED_FILES_CHANGED'), []);
  });

  test('what they change in others is this project’s own then, and the store has it anew', (context) => {
    const workspace = place(context, suite);
    const other = workspace.project('other', manifest({ builder: '1' }));
    workspace.gantryIn(other, 'install').succeeded();
    for (const [name, fields] of Object.entries({
      root: { scripts: { postinstall: append('node_modules/builder/index.js') } },
      failing: { scripts: { preinstall: append('node_modules/builder/index.js'), install: 'exit 1' } },
      workspace: { workspaces: ['packages/*'] },
    })) {
      const project = workspace.project(name, manifest({ builder: '1' }, fields));
      workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
      if (name === 'workspace') {
        const scripts = { prepare: append('../../node_modules/builder/index.js') };
        mkdirSync(join(project, 'packages', 'a'), { recursive: true });
        writeFileSync(
          join(project, 'packages', 'a', 'package.json'),
          JSON.stringify({ name: 'a', version: '1.0.0', scripts }),
        );
      }
      const run = workspace.gantryIn(project, 'install', '--json');
      assert.equal(run.status, name === 'failing' ? 1 : 0);
      assert.equal(text(project), `${clean}// changed\n`, name);
      const warnings = warned(run, 'SHARED_FILES_CHANGED');
      assert.deepEqual(warnings.length, name === 'failing' ? 0 : 1, name);
      workspace.gantryIn(other, 'ci').succeeded();
      assert.equal(text(other), clean, name);
      assert.match(workspace.gantry('store', 'verify').succeeded().stdout, /^1 package is whole\n$/, name);
      // Once it is the project's own nobody is told.
      const again = workspace.gantryIn(project, 'install', '--json');
      assert.deepEqual(warned(again, 'SHARED_FILES_CHANGED'), [], name);
      workspace.gantryIn(other, 'ci').succeeded();
      assert.equal(text(other), clean, name);
    }
  });

  test('nor does rebuild leave to others what they change', (context) => {
    const workspace = place(context, suite);
    const other = workspace.project('other', manifest({ builder: '1' }));
    workspace.gantryIn(other, 'install').succeeded();
    const scripts = { postinstall: append('node_modules/builder/index.js') };
    const project = workspace.project('project', manifest({ builder: '1' }, { scripts }));
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const rebuilt = (...words) => warned(workspace.gantryIn(project, 'rebuild', '--json', ...words).succeeded(), code);
    const code = 'SHARED_FILES_CHANGED';
    assert.deepEqual(rebuilt('--ignore-scripts'), []);
    assert.match(rebuilt()[0], /^scripts changed files of builder@1\.0\.0, /);
    assert.deepEqual(rebuilt(), [], 'they are its own now');
    assert.equal(text(project), `${clean}// changed\n// changed\n`);
    workspace.gantryIn(other, 'ci').succeeded();
    assert.equal(text(other), clean);
  });

  /** Starts an install with a script that has changed a package and does not end; gives the numbers of both processes. */
  async function stuck(workspace, project, folder) {
    const file = join(workspace.folder, 'number');
    const script = join(workspace.folder, 'stuck.cjs');
    writeFileSync(
      script,
      `const fs = require('fs');
      fs.appendFileSync(${JSON.stringify(join(project, 'node_modules/builder/index.js'))}, '// changed\\n');
      fs.writeFileSync(${JSON.stringify(`${file}-new`)}, String(process.pid));
      fs.renameSync(${JSON.stringify(`${file}-new`)}, ${JSON.stringify(file)});
      setInterval(() => {}, 1000);`,
    );
    mkdirSync(join(project, folder), { recursive: true });
    const path = join(project, folder, 'package.json');
    const fields = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { name: 'a', version: '1.0.0' };
    writeFileSync(path, JSON.stringify({ ...fields, scripts: { prepare: `exec node '${script}'` } }));
    const child = spawn(gantryCommand, ['install'], { cwd: project, env: workspace.environment, stdio: 'ignore' });
    const ended = new Promise((settle) => child.on('exit', (status, signal) => settle(status ?? signal)));
    while (!existsSync(file)) await pause(20);
    const number = Number(readFileSync(file, 'utf8'));
    rmSync(file);
    return { child, ended, number };
  }

  /** Kills a process that is nobody's child any more, and waits for its files to be closed. */
  async function killed(number) {
    const lives = () => {
      try {
        process.kill(number, 0);
        // One whose end nobody asks for stays in the list.
        return !existsSync('/proc/self') || !/\) Z /.test(readFileSync(`/proc/${number}/stat`, 'utf8'));
      } catch {
        return false;
      }
    };
    process.kill(number, 'SIGKILL');
    while (lives()) await pause(5);
  }

  test('what they had changed when their install was killed is found by the next one', async (context) => {
    const workspace = place(context, suite);
    const notes = () => readdirSync(join(workspace.folder, 'store', 'v1', 'lent'));
    const other = workspace.project('other', manifest({ builder: '1', tool: '1' }));
    workspace.gantryIn(other, 'install').succeeded();
    for (const folder of ['', 'packages/a']) {
      const name = folder === '' ? 'of-project' : 'of-workspace';
      const project = workspace.project(name, manifest({ builder: '1' }, { workspaces: ['packages/*'] }));
      workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
      const { child, ended, number } = await stuck(workspace, project, folder);
      assert.equal(notes().length, 1);
      // As long as it runs it is not done.
      workspace.gantryIn(other, 'ci').succeeded();
      assert.equal(text(other), `${clean}// changed\n`);
      child.kill('SIGKILL');
      assert.equal(await ended, 'SIGKILL');
      const early = workspace.gantryIn(other, 'ci', '--json').succeeded();
      assert.deepEqual([warned(early, 'SHARED_FILES_CHANGED'), notes().length], [[], 1], 'its script lives still');
      await killed(number);
      const late = workspace.gantryIn(other, 'ci', '--json').succeeded();
      assert.equal(warned(late, 'SHARED_FILES_CHANGED').length, 1);
      assert.match(warned(late, 'SHARED_FILES_CHANGED')[0], /killed had changed files of builder@1\.0\.0, /);
      assert.equal(text(other), clean);
      const again = workspace.gantryIn(other, 'ci', '--json').succeeded();
      assert.deepEqual([warned(again, 'SHARED_FILES_CHANGED'), notes()], [[], []]);
      assert.equal(workspace.gantry('store', 'verify').succeeded().stdout, '2 packages are whole\n');
    }
  });

  test('a note that is none is nothing', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ builder: '1' }));
    workspace.gantryIn(project, 'install').succeeded();
    const notes = join(workspace.folder, 'store', 'v1', 'lent');
    mkdirSync(notes, { recursive: true });
    for (const [name, note] of Object.entries({
      empty: '',
      text: 'none\n',
      keys: '0\n../../..\nnone\n',
      late: `${2n ** 64n}`,
    })) {
      writeFileSync(join(notes, name), note);
    }
    mkdirSync(join(notes, 'folder'));
    const run = workspace.gantryIn(project, 'ci', all, '--json').succeeded();
    assert.deepEqual(warned(run, 'SHARED_FILES_CHANGED'), []);
    assert.deepEqual(readdirSync(notes), ['folder']);
  });

  test('a script may have the store tidied up', (context) => {
    const workspace = place(context, suite);
    const scripts = { preinstall: `'${gantryCommand}' store prune > pruned` };
    const project = workspace.project('project', manifest({ builder: '1' }, { scripts }));
    workspace.gantryIn(project, 'install').succeeded();
    assert.match(readFileSync(join(project, 'pruned'), 'utf8'), /^0 packages removed/);
  });
});
