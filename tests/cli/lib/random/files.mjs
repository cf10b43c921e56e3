// What scenarios say of files, as what is on a disk: manifests as objects, locks of yarn and tarballs as what is in them, and locks
// as what is done to them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packed } from './registry.mjs';

/** Locks of npm, the one that counts first. */
const LOCKS = ['npm-shrinkwrap.json', 'package-lock.json'];

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** A lock of yarn, of entries `{ specs, fields }`; addresses start at the registry. */
function yarnLock(entries, registry) {
  const blocks = entries.map(({ specs, fields: { version, resolved, dependencies } }) => {
    const lines = [`${specs.map((spec) => JSON.stringify(spec)).join(', ')}:`, `  version "${version}"`];
    if (resolved) lines.push(`  resolved "${registry}${resolved}"`);
    if (dependencies) lines.push('  dependencies:');
    for (const [name, range] of Object.entries(dependencies ?? {}))
      lines.push(`    "${name}" ${JSON.stringify(range)}`);
    return `${lines.join('\n')}\n`;
  });
  return `# yarn lockfile v1\n\n\n${blocks.join('\n')}`;
}

/** Writes a file of a scenario. */
export function write(path, content, registry) {
  mkdirSync(dirname(path), { recursive: true });
  if (path.endsWith('.tgz')) writeFileSync(path, packed(content));
  else writeFileSync(path, path.endsWith('yarn.lock') ? yarnLock(content, registry) : json(content));
}

/** Changes fields of a manifest; what is undefined goes. */
export function edit(path, fields) {
  writeFileSync(path, json({ ...JSON.parse(readFileSync(path, 'utf8')), ...fields }));
}

/** The entries of a lock that packages have, of its own version. */
function entriesOf(lock) {
  if (!lock.packages) return lock.dependencies ?? {};
  const { '': root, ...packages } = lock.packages;
  return packages;
}

/** What may happen to an entry; `version` is another one. */
const OF_ENTRIES = {
  gone: (entries, key) => delete entries[key],
  version: (entries, key, version) => {
    entries[key].version = version;
  },
  integrity: (entries, key) => delete entries[key].integrity,
  resolved: (entries, key) => delete entries[key].resolved,
  both: (entries, key) => {
    delete entries[key].resolved;
    delete entries[key].integrity;
  },
  needs: (entries, key) => {
    delete entries[key].dependencies;
    delete entries[key].requires;
  },
  flags: (entries, key) => {
    for (const flag of ['dev', 'optional', 'devOptional', 'peer']) delete entries[key][flag];
  },
  dev: (entries, key) => {
    entries[key].dev = true;
  },
};

/** What may happen to a whole lock. */
const OF_LOCKS = {
  root: (lock) => delete lock.packages?.[''],
  version: (lock) => delete lock.lockfileVersion,
  old: (lock) => (lock.dependencies ? delete lock.packages : undefined),
};

/** The text of a lock in which two branches changed an entry, with git's marks. */
function conflicting(text, key, version) {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.trim() === `${JSON.stringify(key)}: {`);
  const at = lines.findIndex((line, index) => index > start && line.trim().startsWith('"version": '));
  if (start < 0 || at < 0) return text;
  const theirs = lines[at].replace(/: ".*"/, `: "${version}"`);
  lines.splice(at, 1, '<<<<<<< HEAD', lines[at], '=======', theirs, '>>>>>>> branch');
  return lines.join('\n');
}

export const DAMAGES = [
  ...Object.keys(OF_ENTRIES).map((what) => `entry ${what}`),
  ...Object.keys(OF_LOCKS).map((what) => `lock ${what}`),
  'conflict',
  'half',
];

/** Damages the lock of a project: `what` of DAMAGES, to the entry that is `at` of all (0 to 1). */
export function damage(folder, { damage: what, at, version }) {
  const path = LOCKS.map((lock) => join(folder, lock)).find(existsSync);
  if (!path) return;
  const text = readFileSync(path, 'utf8');
  if (what === 'half') {
    writeFileSync(path, text.slice(0, text.length / 2));
    return;
  }
  let lock;
  try {
    lock = JSON.parse(text);
  } catch {
    // Damaged before.
    return;
  }
  const [of, how] = what.split(' ');
  if (of === 'lock') {
    OF_LOCKS[how](lock);
    writeFileSync(path, json(lock));
    return;
  }
  const keys = Object.keys(entriesOf(lock)).filter((key) => !entriesOf(lock)[key].link);
  if (keys.length === 0) return;
  const key = keys[Math.floor(at * keys.length)];
  if (of === 'conflict') {
    writeFileSync(path, conflicting(text, key, version));
    return;
  }
  OF_ENTRIES[how](lock.packages ?? lock.dependencies, key, version);
  writeFileSync(path, json(lock));
}
