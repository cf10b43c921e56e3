import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { find, isSnap } from './browsers.mjs';

/** An executable script in a folder that goes with the test. */
function script(context, text) {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-scripts-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'browser');
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** A browser that is neither installed nor to be had from apt. */
const browser = (downloaded) => ({
  name: 'testium',
  variable: 'GANTRY_TESTIUM',
  commands: ['gantry-no-such-browser'],
  applications: [],
  packages: [],
  download: ['false'],
  libraries: ['playwright', '--version'],
  downloaded: () => downloaded,
});

test('a script that starts a snap is one, others are not', (context) => {
  assert.equal(isSnap(script(context, '#!/bin/sh\nexec /snap/bin/testium "$@"\n')), true);
  assert.equal(isSnap(script(context, '#!/bin/sh\nexec /usr/lib/testium/testium --snapshot "$@"\n')), false);
  assert.equal(isSnap(process.execPath), false);
});

test('a download that starts is taken', async (context) => {
  const path = script(context, '#!/bin/sh\necho testium 1.0\n');
  assert.equal(await find(browser(path)), path);
});

test('a download that does not start is not taken, and the error says what to run', async (context) => {
  const path = script(context, '#!/bin/sh\nexit 127\n');
  await assert.rejects(
    find(browser(path)),
    /testium does not start.* run `sudo npx playwright --version`.*GANTRY_TESTIUM/,
  );
});

test('where there is none the error names the variable', async () => {
  await assert.rejects(find(browser(undefined)), /no testium: .*GANTRY_TESTIUM/);
});
