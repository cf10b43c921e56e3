// Random packages: few, and with much in common, so that installs share what is stored. Every install of them can succeed:
// whatever a package depends on has a version that fits. How versions are chosen is for the random test of the resolver.
import { contentOf } from '../../../browser/pages/random-contents.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', '@s/g', 'h', 'i', '@s/k', 'm', 'n'];
const VERSIONS = ['1.0.0', '1.1.0', '1.2.0', '2.0.0', '2.1.0'];
const PATHS = ['index.js', 'lib/a.js', 'lib/b.js', 'data', 'deep/er/c.bin', 'd.txt'];
/** Around the blocks of 16 KB that a store of a page has. */
const SIZES = [0, 1, 60, 500, 4000, 16_383, 16_384, 16_385, 33_000, 70_000, 200_000];

/** A universe of such packages. */
export function makePackages(dice) {
  const names = dice.some(NAMES, dice.between(4, 11));
  return Object.fromEntries(
    names.map((name) => {
      const others = names.filter((other) => other !== name);
      const versions = dice.some(VERSIONS, dice.between(1, 4)).sort();
      // Its tarball arrives in parts.
      const isLarge = dice.chance(0.1);
      const made = versions.map((version, index) => {
        const fields = makeVersion(dice, `${name}@${version}`, others, isLarge);
        // Not the first: others rely on it.
        return [version, index > 0 && dice.chance(0.3) ? { ...fields, later: true } : fields];
      });
      const latest = made.filter(([, { later }]) => !later).at(-1)[0];
      return [name, { tags: { latest }, versions: Object.fromEntries(made) }];
    }),
  );
}

function makeVersion(dice, id, others, isLarge) {
  const sizes = Object.fromEntries(dice.some(PATHS, dice.between(0, 6)).map((path) => [path, dice.one(SIZES)]));
  if (isLarge) sizes.data = dice.between(1_200_000, 4_000_000);
  return {
    dependencies: Object.fromEntries(
      dice.some(others, dice.between(0, 2)).map((name) => [name, dice.one(['*', '>=1.0.0'])]),
    ),
    ...(dice.chance(0.25) && { bin: { [`run-${id.replace(/\W/g, '-')}`]: 'cli.js' } }),
    files: Object.fromEntries(Object.entries(sizes).map(([path, size]) => [path, contentOf(id, path, size)])),
  };
}

/** What a project may ask for of a package. */
export function rangeOf(dice, universe, name) {
  const known = Object.entries(universe[name]?.versions ?? {}).filter(([, { later }]) => !later);
  const [version] = dice.one(known);
  return dice.one([`^${version}`, version, '*', `>=${version}`, `^${version}`]);
}
