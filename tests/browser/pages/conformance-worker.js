// Runs one conformance suite of the platform in this worker; see crates/conformance.
import init, { runConformance } from '/conformance/gantry.js';
import { MemoryFolder } from '/package/dist/worker/memory-folder.js';

addEventListener('message', async ({ data: { suite, base } }) => {
  try {
    await init({ module_or_path: new URL('/conformance/gantry_bg.wasm', location.href) });
    const [name, isInMemory] = suite.endsWith(' in memory')
      ? [suite.slice(0, -' in memory'.length), true]
      : [suite, false];
    const folder = isInMemory ? new MemoryFolder('memory').handle : undefined;
    postMessage({ report: await runConformance(name, base, folder) });
  } catch (error) {
    postMessage({ problem: String(error) });
  }
});
