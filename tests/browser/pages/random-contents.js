// What files of random packages hold (support/random/packages.ts): noise that follows from the first line, which says what
// package and path it is. So whoever reads a file can tell whether it is that of some version, whole, and of which.

/** The bytes of a file of `size`, which has no less than its first line unless it is empty. */
export function contentOf(id, path, size) {
  if (size === 0) return new Uint8Array();
  const line = new TextEncoder().encode(`${id} ${path} ${size}\n`);
  const bytes = new Uint8Array(Math.max(size, line.length));
  let state = 2166136261;
  for (const byte of line) state = Math.imul(state ^ byte, 16777619);
  const words = new Uint32Array(Math.ceil(bytes.length / 4));
  for (let index = 0; index < words.length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    words[index] = state ^ (state >>> 15);
  }
  bytes.set(new Uint8Array(words.buffer, 0, bytes.length));
  bytes.set(line);
  return bytes;
}

/** Which package a file is of, `name@version`; throws unless it is wholly what that package has at `path`. */
export function ownerOf(bytes, path) {
  if (path === 'package.json') {
    const { name, version } = JSON.parse(new TextDecoder().decode(bytes));
    return `${name}@${version}`;
  }
  if (bytes.length === 0) return undefined;
  if (path === 'cli.js') return /^\/\/ (.*)$/m.exec(new TextDecoder().decode(bytes))?.[1];
  const line = new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(10)));
  const [id, own, size] = line.split(' ');
  if (own !== path) throw new Error(`${path} has what is in ${line.slice(0, 80)}`);
  const expected = contentOf(id, path, Number(size));
  if (expected.length !== bytes.length) throw new Error(`${path}: ${bytes.length} bytes of ${line}`);
  const wrong = expected.findIndex((byte, index) => byte !== bytes[index]);
  if (wrong !== -1) throw new Error(`${path}: byte ${wrong} of ${line} is wrong`);
  return id;
}

/** A path in a tree as the folder of its package and the path in that. */
export function split(path) {
  const at = path.lastIndexOf('node_modules/') + 'node_modules/'.length;
  const names = path.slice(at).split('/');
  const count = names[0].startsWith('@') ? 2 : 1;
  return { folder: path.slice(0, at) + names.slice(0, count).join('/'), within: names.slice(count).join('/') };
}

/**
 * Throws unless files are those of one tree: whole, and of the versions that its hidden lock says. `files` are pairs of a path
 * and bytes; `lock` is the text.
 */
export function checkTree(lock, files) {
  const { packages } = JSON.parse(lock);
  for (const [path, bytes] of files) {
    if (bytes === undefined || path.endsWith('/.package-lock.json')) continue;
    const { folder, within } = split(path);
    const owner = ownerOf(bytes, within);
    const { version, name } = packages[folder] ?? {};
    const known = `${name ?? folder.slice(folder.lastIndexOf('node_modules/') + 13)}@${version}`;
    if (owner !== undefined && owner !== known) throw new Error(`${path} is of ${owner}, and the lock has ${known}`);
  }
  return packages;
}
