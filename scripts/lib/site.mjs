// The TypeScript side: the npm package in web/ (plain tsc output) and the static site in dist/ (Vite).
import { existsSync } from 'node:fs';
import { inRoot, nodeBinary } from './paths.mjs';
import { run, timed } from './process.mjs';
import { unlessFresh } from './stamp.mjs';
import { wasmOutputs } from './wasm.mjs';

const configuration = ['tsconfig.base.json', 'tsconfig.json', 'package-lock.json'].map((name) => inRoot(name));
const packageInputs = [...configuration, ...['web/src', 'web/tsconfig.json', 'worker'].map((name) => inRoot(name))];

/** Compiles web/src and worker/ into web/dist, what `npm pack` ships next to web/wasm. */
export async function buildPackage() {
  const outputs = ['index.js', 'index.d.ts', 'worker/coordinator.js', 'worker/unpack.js'].map((name) =>
    inRoot('web', 'dist', name),
  );
  await unlessFresh('package', { inputs: packageInputs, outputs }, async () => {
    // A build info without its outputs (somebody removed them) would make tsc skip the work.
    const forced = outputs.every((path) => existsSync(path)) ? [] : ['--force'];
    await timed('package', 'web/dist is compiled', () => run(nodeBinary('tsc'), ['-b', ...forced, 'web', 'worker']));
  });
}

/** Builds the static site into dist/. */
export async function buildSite() {
  const sources = ['index.html', 'vite.config.ts', 'web/playground'].map((name) => inRoot(name));
  const step = { inputs: [...packageInputs, ...sources, ...wasmOutputs], outputs: [inRoot('dist', 'index.html')] };
  await unlessFresh('site', step, () =>
    timed('site', 'dist/ is built', () => run(nodeBinary('vite'), ['build', '--logLevel', 'warn'])),
  );
}
