// Runs a test's own scripts in this shared worker, one after the other, with `gantry/sync` at hand.
addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = async ({ data: { source, argument } }) => {
    try {
      const run = new Function(`return (${source})`)();
      port.postMessage({ result: await run(await import('/package/dist/sync.js'), argument) });
    } catch (error) {
      port.postMessage({ problem: `${error?.code ?? ''} ${error?.stack ?? error}` });
    }
  };
});
