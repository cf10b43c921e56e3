// A host in a worker of a page: asks gantry.wasm what is missing, fetches it, installs, and tells the digest. Everything is
// in memory, but for the store where it is to be in the origin's private file system (OPFS).
import { hostOver } from '/lib/memory-host.mjs';
import * as shim from '/shim/index.js';

const { fileIn, memoryFolder, runInMemory } = hostOver(shim);
const encoder = new TextEncoder();

/** The store's files in OPFS. The shim cannot make files there: those that a store of one pack has are made beforehand. */
async function openStore(name) {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle(name, { create: true });
  const files = ['journal', 'pack-0'].map(async (file) => {
    const handle = await folder.getFileHandle(file, { create: true });
    return [file, await handle.createSyncAccessHandle()];
  });
  const handles = new Map(await Promise.all(files));
  const contents = new Map([...handles].map(([file, handle]) => [file, new shim.SyncOPFSFile(handle)]));
  return { contents, close: () => handles.forEach((handle) => void handle.close()) };
}

addEventListener('message', async ({ data: { files, registry, store } }) => {
  let opened = { contents: new Map(), close() {} };
  try {
    if (store) opened = await openStore(store);
    const module = await WebAssembly.compileStreaming(fetch('/wasi/gantry.wasm'));
    const texts = Object.entries(files).map(([path, text]) => [path, encoder.encode(text)]);
    const folders = {
      '/project': memoryFolder(Object.fromEntries(texts)),
      '/store': opened.contents,
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
    const { reused, packages } = JSON.parse(run('ci', '--offline', '--json').trim().split('\n').pop());
    run('verify');
    const lock = new TextDecoder().decode(fileIn(folders['/project'], 'package-lock.json'));
    postMessage({ digest: run('digest').trim(), lock, fetched: missing.length, reused, packages });
  } catch (error) {
    postMessage({ problem: String(error.stack ?? error) });
  } finally {
    opened.close();
  }
});
