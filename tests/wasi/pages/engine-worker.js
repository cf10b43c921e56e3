// A worker of the user's: opens an installed project and has QuickJS render out of it, with no copy of the tree.
import { runEngine } from '/lib/engine.mjs';
import * as shim from '/shim/index.js';
import { openProject } from '/web/dist/sync.js';

addEventListener('message', async ({ data: { project: name } }) => {
  try {
    const project = await openProject({ project: name });
    const folder = project.wasi(shim);
    const script = await (await fetch('/pages/render.js')).arrayBuffer();
    folder.dir.contents.set('render.js', new shim.File(script));
    const engine = await WebAssembly.compileStreaming(fetch('/engine/qjs-wasi-reactor.wasm'));
    const { lines, stderr } = await runEngine(shim, engine, ['/project/render.js'], [folder]);
    const { method } = project;
    project.close();
    postMessage({ lines, stderr, method });
  } catch (error) {
    postMessage({ problem: String(error.stack ?? error) });
  }
});
