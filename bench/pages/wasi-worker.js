// A host for `gantry.wasm` in a worker: project, tarballs and store are the shim's own files, in memory.
import { hostOver } from './memory-host.js';
import { roomyFiles } from './roomy-file.js';
import * as shim from './shim/index.js';

const { memoryFolder, runInMemory } = hostOver(shim);
const RoomyFile = roomyFiles(shim);

/** A store with nothing in it. `roomy`: its two files, which grow by appending, are there and empty. */
const emptyStore = (roomy) =>
  new Map(roomy ? ['journal', 'pack-0'].map((name) => [name, new RoomyFile(new ArrayBuffer(0))]) : []);

addEventListener('message', async ({ data: { files, words, roomy } }) => {
  try {
    const compiling = performance.now();
    const module = await WebAssembly.compileStreaming(fetch(new URL('gantry.wasm', location.href)));
    const before = (performance.now() - compiling) / 1000;
    const folders = { '/project': memoryFolder(files), '/store': emptyStore(roomy) };
    const run = (...all) => {
      const { status, stdout, stderr } = runInMemory(module, all, folders);
      if (status !== 0) throw new Error(`${all.join(' ')}: exit status ${status}\n${stdout.slice(-2000)}\n${stderr}`);
      return stdout.trim();
    };
    const begun = performance.now();
    const output = run(...words);
    const wall = (performance.now() - begun) / 1000;
    const result = JSON.parse(output.split('\n').pop());
    const digest = run('digest', '--prefix', '/project');
    postMessage({ wall, before, install: result.elapsed / 1000, digest, result });
  } catch (error) {
    postMessage({ problem: String(error.stack ?? error) });
  }
});
