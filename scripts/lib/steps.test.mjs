import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { runSteps, StepsFailed } from './steps.mjs';

test('a failed step does not keep the next from running', async () => {
  const ran = [];
  const steps = {
    bad: () => {
      ran.push('bad');
      throw new Error('on purpose');
    },
    good: () => ran.push('good') && undefined,
  };
  await assert.rejects(runSteps('trial', steps), StepsFailed);
  assert.deepEqual(ran, ['bad', 'good']);
});

test('an unknown name is refused before anything runs', async () => {
  await assert.rejects(runSteps('trial', { good: () => assert.fail('it ran') }, ['goof']), /no such part: goof.*good/);
});

test('after an interrupt no further step runs', async () => {
  const script = `
    import { run } from ${JSON.stringify(new URL('./process.mjs', import.meta.url).href)};
    import { runSteps } from ${JSON.stringify(new URL('./steps.mjs', import.meta.url).href)};
    await runSteps('trial', {
      first: () => run('sh', ['-c', 'echo begun; exec sleep 60']),
      second: () => run('echo', ['second']),
    }).catch((error) => console.log(error.message));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    if (chunk.includes('begun')) child.kill('SIGINT');
  });
  const [status] = await once(child, 'close');
  assert.equal(status, 130);
  assert.equal(text, 'begun\nended by SIGINT\n');
});
