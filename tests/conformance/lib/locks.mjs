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

/** Those that come from elsewhere: no links and no folders of the project. @param {Entry[]} entries */
export const withoutOwn = (entries) =>
  entries.filter(
    ({ path, version }) =>
      !/^(?:link|workspace|file):/.test(version) && (path === undefined || path.includes('node_modules/')),
  );

/**
 * Packages of `bun.lock`: JSON with trailing commas, whose keys are the names on the way to a package; a workspace stands
 * there by its name.
 * @param {string} text @returns {Entry[]}
 */
export function entriesOfBun(text) {
  const { packages = {}, workspaces = {} } = JSON.parse(text.replace(/,(\s*[}\]])/g, '$1'));
  const folders = new Map(Object.entries(workspaces).map(([folder, { name }]) => [name, folder]));
  return Object.entries(packages).map(([key, [identity]]) => {
    const names = key.match(/(?:@[^/]+\/)?[^/]+/g) ?? [];
    const places = names.map((name) => `node_modules/${name}`);
    const folder = folders.get(names[0]);
    if (folder && names.length > 1) places[0] = folder;
    return { path: places.join('/'), ...identified(identity), flags: '' };
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
