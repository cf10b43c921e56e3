// What the browser bench serves: the peers bundled by Vite, Gantry's package as it is published, the floor's module.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { inTarget, wasmTarget } from '../../../scripts/lib/paths.mjs';
import { run } from '../../../scripts/lib/process.mjs';
import { unlessFresh } from '../../../scripts/lib/stamp.mjs';
import { standardLibrary } from '../../../scripts/lib/standard-library.mjs';
import { bind } from '../../../scripts/lib/wasm.mjs';
import { benchFolder, cacheFolder, say } from '../paths.mjs';
import { browserPeersFolder, browserPeerVersions } from '../peers.mjs';

/** The scripts of the pages. */
export const scriptsFolder = join(benchFolder, 'browser');
/** Where the peers' bundles are, a folder each. */
export const bundlesFolder = join(cacheFolder, 'browser-pages');
/** Where the floor's module is. */
export const floorFolder = join(cacheFolder, 'browser-floor');

/** Gantry's npm package, built: `npm run build`, or another named in GANTRY_WEB_PACKAGE. */
export function gantryPackage() {
  const folder = resolve(process.env.GANTRY_WEB_PACKAGE || join(benchFolder, '..', 'web'));
  for (const file of ['dist/index.js', 'wasm/gantry_bg.wasm']) {
    if (!existsSync(join(folder, file)))
      throw new Error(
        `${join(folder, file)} is missing: build it (npm run build), or name another package in GANTRY_WEB_PACKAGE`,
      );
  }
  return folder;
}

/** Says which build of Gantry was measured. */
export function gantryModuleDigest() {
  return createHash('sha256')
    .update(readFileSync(join(gantryPackage(), 'wasm', 'gantry_bg.wasm')))
    .digest('hex')
    .slice(0, 16);
}

/** Node's modules, as the peers want them in a page. */
const polyfills = ['assert', 'buffer', 'events', 'process', 'setimmediate', 'url', 'util'];

/** Bundles a peer's page unless that was done with these scripts and versions. @param {string} name */
export async function bundlePeer(name) {
  const outputs = [join(bundlesFolder, name, 'tool.js')];
  const words = [JSON.stringify(browserPeerVersions()), bundlesFolder];
  await unlessFresh(`bench-page-${name}`, { inputs: [scriptsFolder], words, outputs }, async () => {
    say('pages', `bundling ${name}`);
    const { build } = await import('vite');
    const modules = join(browserPeersFolder, 'node_modules');
    const require = createRequire(join(modules, 'index.js'));
    const alias = [
      ...polyfills.map((module) => ({
        find: new RegExp(`^(node:)?${module}$`),
        replacement: require.resolve(`${module}/`),
      })),
      { find: /^process\/browser$/, replacement: require.resolve('process/browser.js') },
      { find: /^(node:)?path$/, replacement: require.resolve('path-browserify') },
      { find: /^(node:)?stream$/, replacement: require.resolve('stream-browserify') },
      ...Object.keys(browserPeerVersions()).map((peer) => ({
        find: new RegExp(`^${peer}(?=/|$)`),
        replacement: join(modules, peer),
      })),
    ];
    await build({
      configFile: false,
      root: scriptsFolder,
      base: './',
      logLevel: 'error',
      resolve: { alias },
      worker: { format: 'es' },
      build: {
        outDir: join(bundlesFolder, name),
        emptyOutDir: true,
        target: 'esnext',
        modulePreload: false,
        rollupOptions: {
          input: join(scriptsFolder, `${name}.js`),
          preserveEntrySignatures: 'exports-only',
          output: { entryFileNames: 'tool.js' },
        },
      },
    });
  });
}

/** Builds the module of the floor unless it is current. */
export async function buildFloor() {
  const source = join(benchFolder, 'floor');
  const inputs = [source, join(benchFolder, '..', 'crates', 'archive')];
  const outputs = [join(floorFolder, 'gantry_bg.wasm')];
  await unlessFresh('bench-floor', { inputs, words: [floorFolder], outputs }, async () => {
    const std = await standardLibrary(wasmTarget);
    const target = inTarget('bench-floor');
    const words = ['build', '--target', wasmTarget, '--profile', 'wasm', '--manifest-path', join(source, 'Cargo.toml')];
    const environment = { ...std.environment, CARGO_TARGET_DIR: target };
    await run(std.cargo, words, { environment });
    await bind(join(target, wasmTarget, 'wasm', 'gantry_bench_floor.wasm'), floorFolder, false);
  });
}
