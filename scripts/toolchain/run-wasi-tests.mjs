// Runs a test program that cargo has built for WASI preview 1, under Node: cargo's runner for that target. Tests read
// the files beside them, so the repository's folders are there; nothing else is.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WASI } from 'node:wasi';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const [path, ...words] = process.argv.slice(2);
const preopens = { '/': '/', [root]: root, [process.cwd()]: process.cwd() };
const wasi = new WASI({
  version: 'preview1',
  args: [path, ...words],
  preopens,
});
const instance = await WebAssembly.instantiate(await WebAssembly.compile(readFileSync(path)), wasi.getImportObject());
process.exitCode = wasi.start(instance);
