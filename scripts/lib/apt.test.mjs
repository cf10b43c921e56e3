import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bringsSnap } from './apt.mjs';

test('packages that fetch a snap are told from others', () => {
  assert.equal(bringsSnap('Inst chromium-browser (2:1snap1-0ubuntu2 Ubuntu:24.04/noble [amd64])'), true);
  assert.equal(bringsSnap('Inst firefox [115.0-1] (1:1snap1-0ubuntu5 Ubuntu:24.04/noble [amd64])'), true);
  assert.equal(bringsSnap('Inst libxml2 (2.9.14 Ubuntu [amd64])\nInst snapd (2.62+24.04 Ubuntu [amd64])'), true);
  assert.equal(
    bringsSnap('Inst libsnappy1v5 (1.1.9-3 Debian:12/stable [amd64])\nInst chromium (130.0-1 Debian)'),
    false,
  );
});
