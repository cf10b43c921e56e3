/** What an unpack worker does before there is anything to do (`worker/rehearsal.ts`). */
import { expect, test } from './support/fixtures.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';

/** Rehearses, and gives how that ended, with what is in OPFS afterwards. `after`: of an abort, in milliseconds; empty: none. */
const rehearsed = (after = '') =>
  inWorker(async (_, after) => {
    const at = (path: string) => new URL(`/package/dist/${path}`, location.href).href;
    const { compile, instantiate } = await import(at('wasm.js'));
    const { rehearseInstalling } = await import(at('worker/rehearsal.js'));
    const { signal } = new AbortController();
    await instantiate(await compile(undefined, signal));
    const ended = await rehearseInstalling(after ? AbortSignal.timeout(Number(after)) : signal).then(
      () => 'done',
      (error: Error) => error.message,
    );
    const left = [];
    for await (const name of (await navigator.storage.getDirectory()).keys()) left.push(name);
    return { ended, left };
  }, after);

test('a rehearsal comes to its end without any network, and leaves nothing behind', async ({ blank }) => {
  // The host of its registry exists nowhere: a request to it would end the rehearsal.
  expect(await blank.evaluate(evaluateInWorker, rehearsed())).toEqual({ ended: 'done', left: [] });
});

test('a rehearsal ends when there is something to do', async ({ blank }) => {
  const { ended, left } = (await blank.evaluate(evaluateInWorker, rehearsed('1'))) as { ended: string; left: string[] };
  expect(ended).not.toBe('done');
  expect(left).toEqual([]);
});
