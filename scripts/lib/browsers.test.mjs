import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { advice, find, isSnap } from './browsers.mjs';

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
const browser = (downloaded, name = 'testium') => ({
  name,
  variable: `GANTRY_${name.toUpperCase()}`,
  commands: ['gantry-no-such-browser'],
  applications: [],
  packages: [],
  advised: name,
  download: ['false'],
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

test('a download that does not start is not taken', async (context) => {
  const path = script(context, '#!/bin/sh\nexit 127\n');
  assert.equal(await find(browser(path)), undefined);
});

test('where there is none there is no path', async () => {
  assert.equal(await find(browser(undefined)), undefined);
});

test('the advice is one line for all browsers, and says what to run', () => {
  const [one, other] = ['testium', 'foxium'].map((name) => browser('/downloaded', name));
  assert.equal(
    advice([one, other]),
    'testium and foxium: downloaded, but libraries are missing: run `npx playwright install-deps testium foxium`; ' +
      'or name them in GANTRY_TESTIUM and GANTRY_FOXIUM',
  );
  assert.match(
    advice([browser(undefined), other]),
    /^foxium: downloaded, .*`npx playwright install-deps foxium`; no testium: install testium.* or name them in GANTRY_TESTIUM and GANTRY_FOXIUM$/,
  );
  assert.match(
    advice([browser(undefined), browser(undefined, 'foxium')]),
    /^no testium, no foxium: install testium and foxium.*; or name them in GANTRY_TESTIUM and GANTRY_FOXIUM$/,
  );
});
