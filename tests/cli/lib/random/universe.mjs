// Random registries: small, and dense in what makes resolution hard. A universe is
// `{ name: { tags, versions: { version: fields } } }`; fields are those of a package.json. `later: true` hides a version until the
// scenario publishes it, `carries` says what its tarball has in node_modules, as `{ name: fields }`, `files` what else,
// `shrinkwrap` what the lock in its tarball has, as `{ path: version }`.
import { createRequire } from 'node:module';

const { satisfies } = createRequire(import.meta.url)('../../../../node_modules/npm/node_modules/semver');

export const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

const NAMES = [
  'a',
  'b',
  'c',
  'd',
  'e',
  'f',
  'g',
  'h',
  'i',
  'j',
  'k',
  'm',
  'n',
  'p',
  'q',
  'r',
  't',
  'u',
  'w',
  'x',
  'y',
  '@s/a',
  '@s/k',
  '@t/b',
  'B2',
];
const VERSIONS = ['1.0.0', '1.0.1', '1.1.0', '1.2.0', '2.0.0-rc.1', '2.0.0', '2.1.0', '2.2.0-beta.1', '3.0.0', '3.1.0'];

/** How much of what this universe has: many features are absent from most, so that what differs can be told apart. */
function temper(dice) {
  const maybe = (probability, most) => (dice.chance(probability) ? dice.between(1, 10) * (most / 10) : 0);
  return {
    names: dice.between(4, dice.chance(0.3) ? 20 : 10),
    versions: dice.between(1, 5),
    dependencies: dice.between(0, 3),
    peers: maybe(0.7, 0.7),
    optionalPeers: maybe(0.5, 0.7),
    optional: maybe(0.4, 0.4),
    missing: maybe(0.3, 0.2),
    unmet: maybe(0.2, 0.05),
    platforms: maybe(0.3, 0.3),
    engines: maybe(0.25, 0.3),
    deprecated: maybe(0.3, 0.3),
    tags: maybe(0.3, 0.5),
    aliases: maybe(0.25, 0.2),
    bundles: maybe(0.15, 0.2),
    shrinkwraps: maybe(0.12, 0.3),
    bins: maybe(0.3, 0.4),
    scripts: maybe(0.1, 0.2),
    later: maybe(0.4, 0.3),
    tarballs: maybe(0.1, 1),
    damage: maybe(0.2, 1),
    yarn: maybe(0.1, 1),
    locks: maybe(0.1, 1),
    exact: dice.one([0.1, 0.3, 0.6]),
    cycles: dice.chance(0.5),
  };
}

/** A random range that names of this universe may be asked for in. */
export function range(dice, universe, name, temperament) {
  const known = universe[name];
  if (!known) return dice.one(['1', '^1.0.0', '*']);
  const version = dice.one(Object.keys(known.versions));
  if (dice.chance(temperament.unmet)) return dice.one(['^9.0.0', '9.9.9', 'nowhere', '>4']);
  if (dice.chance(temperament.tags)) return dice.one(Object.keys(known.tags));
  if (dice.chance(temperament.exact)) return version;
  const [major, minor] = version.split('.');
  return dice.weighted({
    [`^${version}`]: 6,
    [`~${version}`]: 2,
    [`${major}`]: 2,
    [`${major}.x`]: 1,
    [`>=${version}`]: 2,
    [`<=${version}`]: 1,
    [`>=${major}.${minor}.0 <${Number(major) + 1}.0.0`]: 1,
    [`1 || ${version}`]: 1,
    [`1.0.0 - ${version}`]: 0.5,
    '*': 2,
    '': 0.3,
    x: 0.2,
    [`=${version}`]: 0.3,
    [`v${version}`]: 0.1,
  });
}

/** A specifier for a dependency of `name`: a range, or now and then another package under that name. */
export function specifier(dice, universe, name, temperament) {
  if (!dice.chance(temperament.aliases)) return range(dice, universe, name, temperament);
  const other = dice.one(Object.keys(universe));
  return `npm:${other}@${range(dice, universe, other, temperament)}`;
}

const PLATFORMS = [
  { os: ['darwin'] },
  { os: ['win32'] },
  { cpu: ['arm64'] },
  { os: ['linux'], cpu: ['x64'] },
  { os: ['!linux'] },
  { os: ['linux'], libc: ['musl'] },
  { os: ['linux'], libc: ['glibc'] },
];
const ENGINES = [{ node: '>=18' }, { node: '>=99' }, { node: '^20' }, { npm: '<5' }, { node: '0.10' }];

/** Dependencies of one kind, and those that are not there. */
function dependencies(dice, universe, temperament, count, below) {
  const names = Object.keys(universe).filter((name) => temperament.cycles || below === undefined || name > below);
  const chosen = dice.some(names, count);
  if (dice.chance(temperament.missing * 0.2)) chosen.push('missing');
  return Object.fromEntries(chosen.map((name) => [name, specifier(dice, universe, name, temperament)]));
}

function put(fields, key, value) {
  if (Object.keys(value).length > 0) fields[key] = value;
}

/** Peer dependencies, some of them optional, on `fields`. */
export function addPeers(dice, universe, temperament, fields, self) {
  const count = dice.chance(temperament.peers) ? dice.between(1, 2) : 0;
  const peers = dependencies(dice, universe, temperament, count, self);
  delete peers[self];
  const meta = {};
  for (const name of Object.keys(peers)) if (dice.chance(temperament.optionalPeers)) meta[name] = { optional: true };
  put(fields, 'peerDependencies', peers);
  put(fields, 'peerDependenciesMeta', meta);
}

function manifest(dice, universe, temperament, name) {
  const fields = {};
  put(
    fields,
    'dependencies',
    dependencies(dice, universe, temperament, dice.between(0, temperament.dependencies), name),
  );
  addPeers(dice, universe, temperament, fields, name);
  if (dice.chance(temperament.optional)) {
    const optional = dependencies(dice, universe, temperament, dice.between(1, 2), name);
    if (dice.chance(temperament.missing)) optional['missing-optional'] = '1';
    put(fields, 'optionalDependencies', optional);
  }
  if (dice.chance(temperament.platforms)) Object.assign(fields, dice.one(PLATFORMS));
  if (dice.chance(temperament.engines)) fields.engines = dice.one(ENGINES);
  if (dice.chance(temperament.deprecated)) fields.deprecated = 'not any more';
  if (dice.chance(temperament.bins)) fields.bin = { [dice.one(['tool', 'run', name.replace(/.*\//, '')])]: 'cli.js' };
  if (dice.chance(temperament.scripts)) fields.scripts = { postinstall: 'true' };
  if (fields.dependencies && dice.chance(temperament.bundles)) {
    const bundled = dice.some(Object.keys(fields.dependencies), dice.between(1, 2));
    fields.bundleDependencies = bundled;
    fields.carries = {};
    for (const each of bundled) {
      if (universe[each] && !fields.dependencies[each].startsWith('npm:')) {
        fields.carries[each] = { version: dice.one(Object.keys(universe[each].versions)) };
      }
    }
  }
  return fields;
}

/** The lock of a package, as who published it may have had it: some of what is in it may be old, or missing. */
function shrinkwrap(dice, universe, self, dependencies) {
  const lock = {};
  const add = (at, name, range) => {
    if (!universe[name] || name === self || range.startsWith('npm:') || dice.chance(0.1)) return;
    const [first, ...more] = dice
      .some(Object.keys(universe[name].versions), 9)
      .sort((a, b) => satisfies(b, range) - satisfies(a, range));
    const version = dice.chance(0.1) && more.length > 0 ? dice.one(more) : first;
    const path = lock[`node_modules/${name}`] ? `${at}node_modules/${name}` : `node_modules/${name}`;
    if (lock[path] || path.split('node_modules').length > 4) return;
    lock[path] = version;
    const below = universe[name].versions[version].dependencies ?? {};
    for (const [each, wanted] of Object.entries(below)) {
      const have = lock[`node_modules/${each}`];
      if (!have || !satisfies(have, wanted)) add(`${path}/`, each, wanted);
    }
  };
  for (const [name, range] of Object.entries(dependencies)) add('', name, range);
  return lock;
}

/** A random universe, and what it is like. */
export function makeUniverse(dice) {
  const temperament = temper(dice);
  const universe = {};
  for (const name of dice.some(NAMES, temperament.names).sort()) {
    const versions = dice.some(VERSIONS, dice.between(1, temperament.versions));
    if (dice.chance(0.8)) versions.sort((a, b) => VERSIONS.indexOf(a) - VERSIONS.indexOf(b));
    const latest = dice.chance(0.8)
      ? (versions.filter((each) => !each.includes('-')).at(-1) ?? versions.at(-1))
      : dice.one(versions);
    universe[name] = { tags: { latest }, versions: Object.fromEntries(versions.map((each) => [each, {}])) };
    if (dice.chance(temperament.tags)) universe[name].tags.next = dice.one(versions);
  }
  for (const [name, { versions, tags }] of Object.entries(universe)) {
    let before;
    for (const version of Object.keys(versions)) {
      // Versions of one package are much alike.
      const same = before && dice.chance(0.3);
      before = same ? structuredClone(before) : manifest(dice, universe, temperament, name);
      versions[version] = structuredClone(before);
      if (Object.values(tags).includes(version)) continue;
      if (dice.chance(temperament.later)) versions[version].later = true;
    }
  }
  if (temperament.shrinkwraps > 0) {
    for (const [name, { versions }] of Object.entries(universe)) {
      for (const fields of Object.values(versions)) {
        if (fields.bundleDependencies || !fields.dependencies || !dice.chance(temperament.shrinkwraps)) continue;
        fields.shrinkwrap = shrinkwrap(dice, universe, name, fields.dependencies);
      }
    }
  }
  return { universe, temperament };
}
