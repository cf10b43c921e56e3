// Runs one conformance suite of the platform in this worker; see crates/conformance.
import init, { runConformance } from '/conformance/gantry.js';

addEventListener('message', async ({ data: { suite, base } }) => {
  try {
    await init({ module_or_path: new URL('/conformance/gantry_bg.wasm', location.href) });
    postMessage({ report: await runConformance(suite, base) });
  } catch (error) {
    postMessage({ problem: String(error) });
  }
});
