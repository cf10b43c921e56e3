import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closingLines } from './closing-lines.mjs';

test('the results of many cargo test binaries become one line', () => {
  const output = [
    'running 2 tests',
    'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s',
    'test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s',
  ].join('\n');
  assert.deepEqual(closingLines(output), ['test result: FAILED. 5 passed; 1 failed; 0 ignored (2 test binaries)']);
});

test('the closing lines of other runners are kept, without colours', () => {
  const output = '\u001b[34mℹ tests 3\u001b[39m\nℹ pass 3\nsomething\n  12 passed (3.1s)\n# fail 0\n';
  assert.deepEqual(closingLines(output), ['ℹ tests 3', 'ℹ pass 3', '  12 passed (3.1s)', '# fail 0']);
});
