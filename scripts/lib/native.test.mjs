import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtLeast } from './native.mjs';

test('versions are compared by number', () => {
  for (const [one, other] of [
    ['1.92.0', '1.92'],
    ['1.100.0', '1.92'],
    ['2.0.0-nightly', '1.92'],
    ['1.92.1', '1.92.1'],
  ]) {
    assert.equal(isAtLeast(one, other), true, `${one} is ${other} or newer`);
  }
  for (const [one, other] of [
    ['1.63.0', '1.92'],
    ['1.9.0', '1.92'],
    ['0', '1.92'],
  ]) {
    assert.equal(isAtLeast(one, other), false, `${one} is older than ${other}`);
  }
});
