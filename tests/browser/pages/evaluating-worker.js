// Runs a test's own script in this worker, with `gantry/sync` at hand.
addEventListener('message', async ({ data: { source, argument } }) => {
  try {
    const sync = await import('/package/dist/sync.js');
    const run = new Function(`return (${source})`)();
    postMessage({ result: await run(sync, argument) });
  } catch (error) {
    postMessage({ problem: `${error?.code ?? ''} ${error?.stack ?? error}` });
  }
});
