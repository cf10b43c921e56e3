import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inTarget } from './paths.mjs';
import { fingerprint, unlessFresh } from './stamp.mjs';

function temporaryFolder(context) {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-stamp-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a fingerprint changes with contents, new files and words, and not by itself', (context) => {
  const folder = temporaryFolder(context);
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'inner', 'a'), 'one');
  const first = fingerprint([folder]);
  assert.equal(fingerprint([folder]), first);
  assert.notEqual(fingerprint([folder], ['word']), first);
  writeFileSync(join(folder, 'inner', 'b'), '');
  const second = fingerprint([folder]);
  assert.notEqual(second, first);
  writeFileSync(join(folder, 'inner', 'a'), 'three');
  assert.notEqual(fingerprint([folder]), second);
});

test('what node_modules holds does not count', (context) => {
  const folder = temporaryFolder(context);
  const first = fingerprint([folder]);
  mkdirSync(join(folder, 'node_modules'));
  writeFileSync(join(folder, 'node_modules', 'a'), '');
  assert.equal(fingerprint([folder]), first);
});

test('work is done once, again when its outputs are gone, and again after a failure', async (context) => {
  const folder = temporaryFolder(context);
  const name = `test-${process.pid}`;
  context.after(() => rmSync(inTarget('stamps', name), { force: true }));
  const output = join(folder, 'output');
  const work = () => writeFileSync(output, '');
  const step = { words: ['a'], outputs: [output] };
  assert.equal(await unlessFresh(name, step, work), true);
  assert.equal(await unlessFresh(name, step, work), false);
  rmSync(output);
  assert.equal(await unlessFresh(name, step, work), true);
  const fail = () => {
    throw new Error('no');
  };
  await assert.rejects(unlessFresh(name, { ...step, words: ['b'] }, fail));
  assert.equal(await unlessFresh(name, step, work), true);
});
