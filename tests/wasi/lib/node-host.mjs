// Runs a WASI command under node:wasi, in a process of its own: `node node-host.mjs '{"module","preopens","words"}'`.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const { module, preopens, words } = JSON.parse(process.argv[2]);
const wasi = new WASI({ version: 'preview1', args: ['gantry.wasm', ...words], env: {}, preopens, returnOnExit: true });
const { instance } = await WebAssembly.instantiate(await readFile(module), wasi.getImportObject());
process.exitCode = wasi.start(instance);
