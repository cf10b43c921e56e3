// Locks of all the tools, read as lists of packages at places.

/** Flags of a package in npm's lock. */
export const FLAGS = ['dev', 'optional', 'peer', 'devOptional', 'extraneous', 'inBundle', 'hasInstallScript', 'link'];

/**
 * A package at a place; `path` is as in npm's lock, `undefined` where a tool keeps no places.
 * @typedef {{ path: string | undefined, name: string, version: string, flags: string }} Entry
 */

/** @param {string} path of a lock's entry */
const nameAt = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Packages of npm's lock, without the project itself. @param {string} text @returns {Entry[]} */
export function entriesOf(text) {
  return Object.entries(JSON.parse(text).packages ?? {})
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      name: entry.name ?? (path.includes('node_modules/') ? nameAt(path) : path),
      version: entry.link ? `link:${entry.resolved}` : String(entry.version),
      flags: FLAGS.filter((flag) => entry[flag]).join(' '),
    }));
}

/**
 * Packages of `bun.lock`: JSON with trailing commas, whose keys are the names on the way to a package. Workspaces stand
 * there by name, so what is nested in one has another path than npm's.
 * @param {string} text @returns {Entry[]}
 */
export function entriesOfBun(text) {
  const { packages = {} } = JSON.parse(text.replace(/,(\s*[}\]])/g, '$1'));
  return Object.entries(packages).map(([key, [identity]]) => {
    const names = key.match(/(?:@[^/]+\/)?[^/]+/g) ?? [];
    const path = names.map((name) => `node_modules/${name}`).join('/');
    return { path, ...identified(identity), flags: '' };
  });
}

/** Packages of `pnpm-lock.yaml`, from the keys of its `packages` map. @param {string} text @returns {Entry[]} */
export function entriesOfPnpm(text) {
  const [, section = ''] = /^packages:\n([\s\S]*?)(?=^\S|(?![\s\S]))/m.exec(text) ?? [];
  const keys = [...section.matchAll(/^ {2}'?([^\s'][^']*?)'?:$/gm)].map(([, key]) => key);
  return keys.map((key) => ({ path: undefined, ...identified(key), flags: '' }));
}

/** @param {string} identity `name@version` */
function identified(identity) {
  const at = identity.indexOf('@', 1);
  return { name: identity.slice(0, at), version: identity.slice(at + 1) };
}
