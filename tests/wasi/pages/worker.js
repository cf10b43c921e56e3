// A host in a worker of a page: asks gantry.wasm what is missing, fetches it, installs, and tells the digest. Everything is
// in memory.
import { hostOver } from '/lib/memory-host.mjs';
import * as shim from '/shim/index.js';

const { fileIn, memoryFolder, runInMemory } = hostOver(shim);
const encoder = new TextEncoder();

addEventListener('message', async ({ data: { files, registry } }) => {
  try {
    const module = await WebAssembly.compileStreaming(fetch('/wasi/gantry.wasm'));
    const texts = Object.entries(files).map(([path, text]) => [path, encoder.encode(text)]);
    const folders = {
      '/project': memoryFolder(Object.fromEntries(texts)),
      '/store': new Map(),
      '/tarballs': new Map(),
    };
    const run = (...words) => {
      const { status, stdout, stderr } = runInMemory(module, [...words, '--prefix', '/project'], folders);
      if (status !== 0) throw new Error(`${words.join(' ')}: exit status ${status}\n${stdout.slice(-2000)}\n${stderr}`);
      return stdout;
    };
    const missing = JSON.parse(run('ci', '--print-missing', '--registry', registry));
    const fetched = missing.map(async ({ url, file }) => {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
      return [file, new Uint8Array(await answer.arrayBuffer())];
    });
    for (const [file, bytes] of await Promise.all(fetched)) {
      folders['/tarballs'].set(file, memoryFolder({ file: bytes }).get('file'));
    }
    run('ci', '--offline', '--json');
    run('verify');
    const lock = new TextDecoder().decode(fileIn(folders['/project'], 'package-lock.json'));
    postMessage({ digest: run('digest').trim(), lock, fetched: missing.length });
  } catch (error) {
    postMessage({ problem: String(error.stack ?? error) });
  }
});
