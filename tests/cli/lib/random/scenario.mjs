// Random projects on a universe, and what is done with them: `{ universe, files, options, steps }`. Files are manifests, and
// tarballs, which have a manifest's fields.
import { Dice } from './dice.mjs';
import { Director } from './steps.mjs';
import { addPeers, KINDS, makeUniverse, range, specifier } from './universe.mjs';

class Author {
  constructor(dice, { universe, temperament }) {
    this.dice = dice;
    this.universe = universe;
    this.temperament = temperament;
    this.names = Object.keys(universe);
    this.files = {};
    this.workspaces = [];
    this.folders = [];
    this.tarballs = [];
  }

  dependencies(count) {
    const { dice, universe, temperament } = this;
    const chosen = dice.some(this.names, count);
    return Object.fromEntries(chosen.map((name) => [name, specifier(dice, universe, name, temperament)]));
  }

  /** Dependencies of all kinds, as a project, a workspace or a folder has them. */
  fields(most) {
    const { dice, universe, temperament } = this;
    const fields = {};
    const put = (kind, value) => {
      if (Object.keys(value).length > 0) fields[kind] = value;
    };
    put('dependencies', this.dependencies(dice.between(0, most)));
    if (dice.chance(0.4)) put('devDependencies', this.dependencies(dice.between(1, 2)));
    if (dice.chance(temperament.optional)) put('optionalDependencies', this.dependencies(dice.between(1, 2)));
    if (dice.chance(0.3)) addPeers(dice, universe, temperament, fields);
    return fields;
  }

  /** A range for a workspace or folder of this version: one that has it, or not. */
  rangeFor(version) {
    return this.dice.one([version, `^${version}`, '*', '^1.0.0', '2', '']);
  }

  overrides() {
    const { dice, universe, temperament } = this;
    const listed = Object.entries({ ...this.root.dependencies, ...this.root.devDependencies });
    const direct = listed.filter(([, spec]) => !spec.startsWith('file:')).map(([name]) => name);
    const indirect = this.names.filter((name) => !direct.includes(name));
    const value = () => range(dice, universe, dice.one(this.names), temperament) || '*';
    const key = () => {
      const name = dice.one(indirect.length > 0 && dice.chance(0.85) ? indirect : this.names);
      // A tag is no key: npm takes it for a range, and ends by that.
      return dice.chance(0.3)
        ? `${name}@${range(dice, universe, name, { ...temperament, tags: 0, unmet: 0 }) || '*'}`
        : name;
    };
    const rule = (depth) => {
      if (depth > 0 && dice.chance(0.4)) {
        const rules = Object.fromEntries(Array.from({ length: dice.between(1, 2) }, () => [key(), rule(depth - 1)]));
        if (dice.chance(0.4)) rules['.'] = value();
        return rules;
      }
      if (direct.length > 0 && dice.chance(0.25)) return `$${dice.one(direct)}`;
      return value();
    };
    const rules = Object.fromEntries(Array.from({ length: dice.between(1, 2) }, () => [key(), rule(2)]));
    return rules;
  }

  addWorkspaces() {
    const { dice } = this;
    const count = dice.between(1, 3);
    for (let index = 0; index < count; index += 1) {
      const folder = `packages/${'lmz'[index]}`;
      const name = dice.chance(0.2) ? dice.one(this.names) : `ws-${'lmz'[index]}`;
      if (this.workspaces.some((other) => other.name === name)) continue;
      const fields = { name, version: dice.one(['1.0.0', '2.0.0', '0.1.0', '2.0.0-rc.1']), ...this.fields(2) };
      if (dice.chance(0.1)) delete fields.version;
      this.workspaces.push(fields);
      this.files[`${folder}/package.json`] = fields;
    }
    for (const { name, version } of this.workspaces) {
      const others = [this.root, ...this.workspaces.filter((other) => other.name !== name)];
      if (!dice.chance(0.5)) continue;
      const asking = dice.one(others);
      const kind = dice.one(KINDS.slice(0, 3));
      asking[kind] = { ...asking[kind], [name]: this.rangeFor(version ?? '1.0.0') };
    }
    this.root.workspaces = ['packages/*'];
  }

  addFolders() {
    const { dice } = this;
    for (const name of dice.some(['folder-a', 'folder-b'], dice.between(1, 2))) {
      this.folders.push(name);
      this.files[`${name}/package.json`] = { name, version: '1.0.0', ...this.fields(2) };
      const kind = dice.one(KINDS.slice(0, 3));
      this.root[kind] = { ...this.root[kind], [name]: `file:${dice.chance(0.3) ? './' : ''}${name}` };
    }
  }

  addTarballs() {
    const { dice } = this;
    for (const file of dice.some(['packed.tgz', 'folder/other.tgz'], dice.between(1, 2))) {
      const name = dice.chance(0.3) ? dice.one(this.names) : file.replace(/.*\/|\.tgz/g, '');
      this.tarballs.push(file);
      this.files[file] = { name, version: dice.one(['1.0.0', '2.0.0']), ...this.fields(2) };
      if (dice.chance(0.3)) this.files[file].bin = { tool: 'cli.js' };
      if (dice.chance(0.3)) continue;
      const kind = dice.one(KINDS.slice(0, 3));
      const asking = dice.one([this.root, ...this.workspaces]);
      const above = asking === this.root ? '' : '../../';
      asking[kind] = { ...asking[kind], [dice.chance(0.8) ? name : 'packed']: `file:${above}${file}` };
    }
  }

  project() {
    const { dice } = this;
    this.root = { name: 'root', version: '1.0.0', ...this.fields(4) };
    if (dice.chance(0.25)) this.addWorkspaces();
    if (dice.chance(0.12)) this.addFolders();
    if (this.temperament.tarballs > 0) this.addTarballs();
    if (dice.chance(0.25)) this.root.overrides = this.overrides();
    this.files['package.json'] = this.root;
    return this.files;
  }

  options() {
    const { dice } = this;
    const options = [];
    const peers = dice.weighted({ '': 76, '--legacy-peer-deps': 6, '--strict-peer-deps': 6, '--force': 12 });
    if (peers) options.push(peers);
    if (dice.chance(0.1)) options.push(`--install-strategy=${dice.one(['nested', 'shallow'])}`);
    if (dice.chance(0.06)) options.push('--prefer-dedupe');
    if (dice.chance(0.06)) options.push(`--lockfile-version=${dice.one([1, 2, 3])}`);
    if (dice.chance(0.05)) options.push('--engine-strict');
    return options;
  }
}

/** The scenario of a seed. Three in four are about locks alone, where nothing is downloaded. */
export function makeScenario(seed) {
  const dice = new Dice(seed);
  const made = makeUniverse(dice);
  const author = new Author(dice, made);
  const files = author.project();
  const tree = dice.chance(0.25);
  const options = author.options();
  if (!tree) options.push('--package-lock-only');
  return { universe: made.universe, files: structuredClone(files), options, steps: new Director(author).steps(tree) };
}
