/** What an unpack worker does before there is anything to do (`worker/rehearsal.ts`). */
import { expect, test } from './support/fixtures.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';

/** Rehearses, and gives how that ended, with what is in OPFS afterwards. `turns`: it is aborted in the turn of that number that it
 * leaves to others, 0 before the first; empty: it is not. */
const rehearsed = (turns = '') =>
  inWorker(async (_, turns) => {
    const at = (path: string) => new URL(`/package/dist/${path}`, location.href).href;
    const { compile, instantiate } = await import(at('wasm.js'));
    const { rehearseInstalling } = await import(at('worker/rehearsal.js'));
    const controller = new AbortController();
    await instantiate(await compile(undefined, controller.signal));
    let turn = 0;
    const abortIfDue = () => turn++ === Number(turns) && turns !== '' && controller.abort(new Error('given up'));
    const Channel = MessageChannel;
    // It waits for a message to itself to leave others a turn.
    globalThis.MessageChannel = class extends Channel {
      constructor() {
        super();
        abortIfDue();
      }
    };
    abortIfDue();
    const ended = await rehearseInstalling(controller.signal).then(
      () => 'done',
      (error: Error) => error.message,
    );
    const left = [];
    for await (const name of (await navigator.storage.getDirectory()).keys()) left.push(name);
    return { ended, left };
  }, turns);

test('a rehearsal comes to its end without any network, and leaves nothing behind', async ({ blank }) => {
  // The host of its registry exists nowhere: a request to it would end the rehearsal.
  expect(await blank.evaluate(evaluateInWorker, rehearsed())).toEqual({ ended: 'done', left: [] });
});

for (const turns of ['0', '1', '4', '9']) {
  test(`a rehearsal that is given up in turn ${turns} ends there, and leaves nothing behind`, async ({ blank }) => {
    expect(await blank.evaluate(evaluateInWorker, rehearsed(turns))).toEqual({
      ended: expect.stringContaining('given up'),
      left: [],
    });
  });
}
