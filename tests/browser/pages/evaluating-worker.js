// Runs a test's own script in this worker, with the entries of the package at hand.
addEventListener('message', async ({ data: { source, argument } }) => {
  try {
    const [sync, exporting] = await Promise.all([import('/package/dist/sync.js'), import('/package/dist/export.js')]);
    const run = new Function(`return (${source})`)();
    postMessage({ result: await run({ ...sync, ...exporting }, argument) });
  } catch (error) {
    postMessage({ problem: `${error?.code ?? ''} ${error?.stack ?? error}` });
  }
});
