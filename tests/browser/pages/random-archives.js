// How a tab of the random test takes whole trees out of a store (random-tab.js). What it takes is all there, and of one tree.
import { fillVolume, toTar, toZip, writeDirectory } from '/package/dist/export.js';
import { checkTree, split } from './random-contents.js';
import { projectOf } from './random-reads.js';

/** The files of a tar archive. */
function untar(bytes) {
  const files = [];
  const text = (from, length) => new TextDecoder().decode(bytes.subarray(from, from + length)).replace(/\0.*$/s, '');
  let long;
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const kind = String.fromCharCode(bytes[at + 156]);
    const prefix = text(at + 345, 155);
    const name = (prefix && `${prefix}/`) + text(at, 100);
    const content = bytes.subarray(at + 512, at + 512 + size);
    if (kind === 'x') long = /path=(.*)\n/.exec(new TextDecoder().decode(content))?.[1];
    else {
      if (kind === '0') files.push([long ?? name, content]);
      long = undefined;
    }
    at += 512 + 512 * Math.ceil(size / 512);
  }
  return files;
}

function checkFiles(files) {
  if (files.length === 0) return 0;
  const lock = files.find(([path]) => path === 'node_modules/.package-lock.json');
  if (!lock) throw new Error(`there is no hidden lock among ${files.map(([path]) => path)}`);
  const packages = checkTree(new TextDecoder().decode(lock[1]), files);
  const there = new Set(files.map(([path]) => (path.endsWith('.package-lock.json') ? '' : split(path).folder)));
  for (const folder of Object.keys(packages)) if (!there.has(folder)) throw new Error(`nothing of ${folder} is there`);
  return files.length;
}

export const archives = {
  async tar({ project: name, isFresh, isStored, drop, pause = 0 }, signal) {
    const project = await projectOf(name, isFresh, isStored);
    if (!project) return undefined;
    const stream = toTar(project, { signal });
    const from = stream.getReader();
    const parts = [];
    for (;;) {
      const { done, value } = await from.read();
      if (done) break;
      parts.push(value);
      if (drop && parts.length === drop) {
        await from.cancel();
        return 'dropped';
      }
      if (pause) await new Promise((resume) => setTimeout(resume, pause));
    }
    return checkFiles(untar(new Uint8Array(await new Blob(parts).arrayBuffer())));
  },
  async zip({ project: name, isFresh, isStored }, signal) {
    const project = await projectOf(name, isFresh, isStored);
    if (!project) return undefined;
    let bytes = 0;
    // No `Response`: what ends a stream it tells nobody.
    for await (const part of toZip(project, { signal })) bytes += part.length;
    return bytes;
  },
  async volume({ project: name, isFresh, isStored }, signal) {
    const project = await projectOf(name, isFresh, isStored);
    if (!project) return undefined;
    const files = [];
    const volume = {
      mkdirSync() {},
      symlinkSync() {},
      writeFileSync: (path, bytes) => files.push([path.replace(/^\//, ''), new Uint8Array(bytes)]),
    };
    await fillVolume(project, volume, { signal });
    return checkFiles(files);
  },
  async directory({ project: name, isFresh, isStored, to }, signal) {
    const project = await projectOf(name, isFresh, isStored);
    if (!project) return undefined;
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle(`out-${to}`, { create: true });
    await writeDirectory(project, folder, { clean: true, signal });
    const files = [];
    const walk = async (from, prefix) => {
      for await (const [name, handle] of from.entries()) {
        if (handle.kind === 'directory') await walk(handle, `${prefix}${name}/`);
        else files.push([prefix + name, new Uint8Array(await (await handle.getFile()).arrayBuffer())]);
      }
    };
    await walk(folder, '');
    return checkFiles(files);
  },
};
