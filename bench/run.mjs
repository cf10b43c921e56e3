#!/usr/bin/env node
// The one entry of the benchmarks: `npm run bench -- <name> [options]`. README.md says what there is.
import { parseArgs } from 'node:util';
import { say } from './lib/paths.mjs';

const benches = {
  record: 'record once what the projects need (asks the registry that npm is configured with)',
  'record-pages': 'the same for installs in a page, afterwards',
  native: 'phases p0 to p4 of the native command against bun, pnpm, utoo and npm',
  resolver: 'time to write a lock over the number of packages',
  browser: 'installs in a page against @utoo/web, npm-in-browser, almostnode and a floor',
  registry: 'the ceiling: fetching what a project needs without a resolver, and resolving beside it',
  links: 'packages of different shape put in place by every method, on every file system that can be had',
  store: 'the store in Chromium: packs against files, opening, reading, reinstalling',
  wasi: 'one install of 553 packages: native, wasmtime, node:wasi, the browser shim over memory, a page’s OPFS packs',
  packument: 'reading packuments: Gantry’s scan against serde_json, simd-json, JSON.parse; native and wasm',
  archive: 'unpacking tarballs: inflate, hash, untar, all; native, wasm, WebCrypto, DecompressionStream',
  'resolver-curve': 'resolving alone, over 100 to 3,000 packages; time and memory, native and wasm',
};
const { values, positionals } = readArguments({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    full: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    projects: { type: 'string' },
    phases: { type: 'string' },
    tools: { type: 'string' },
    latency: { type: 'string' },
    bandwidth: { type: 'string' },
    tls: { type: 'boolean', default: false },
    fs: { type: 'string' },
    out: { type: 'string' },
  },
});
const [name] = positionals;
if (values.help || !Object.hasOwn(benches, name ?? '')) {
  for (const [bench, what] of Object.entries(benches)) console.log(`  ${bench.padEnd(14)} ${what}`);
  console.log(`
  --full             more rounds, and the phases that wait for caches to age
  --rounds N         rounds; 3, or 5 with --full
  --projects A,B     lodash, vite-react, next15, cra5, webpack-jest in pages; wasi takes one, webpack-jest unless given
  --phases A,B       p0, p1, p1w, p1w-stale, p2, p2-stale, p3, p4; in a page: cold, reload, added, second, second-stale, second-offline, lock
  --tools A,B        gantry, bun, pnpm, utoo, npm (gantry's copy for the null test always runs along)
  --latency MS       delay of every answer of the registry
  --bandwidth BITS   bits a second of each connection
  --tls              the registry speaks TLS and offers HTTP/2 (native, registry, browser)
  --fs DIR           where trees and caches go; a tmpfs unless given
  --out DIR          where results go; bench/runs/<date> unless given`);
  process.exit(values.help || name === undefined ? 0 : 2);
}
try {
  const bench = await import(`./benches/${name}.mjs`);
  await bench.main(values);
} catch (error) {
  say(name, error.stack);
  process.exitCode = 1;
}

/** The command line; what cannot be understood ends the program. @param {import('node:util').ParseArgsConfig} config */
function readArguments(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${error.message}\nnpm run bench -- --help lists benches and options`);
    process.exit(2);
  }
}
