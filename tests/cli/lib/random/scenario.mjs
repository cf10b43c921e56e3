// Random projects on a universe, and what is done with them: `{ universe, files, options, steps }`. A step is one of
// `{ run: [command, ...words] }`, `{ edit: path, fields }` (fields of a package.json, undefined removes),
// `{ remove: path }` and `{ publish: true }`.
import { Dice } from './dice.mjs';
import { addPeers, makeUniverse, range, specifier } from './universe.mjs';

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

class Author {
  constructor(dice, { universe, temperament }) {
    this.dice = dice;
    this.universe = universe;
    this.temperament = temperament;
    this.names = Object.keys(universe);
    this.files = {};
    this.workspaces = [];
    this.folders = [];
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
    const direct = Object.keys({ ...this.root.dependencies, ...this.root.devDependencies });
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

  project() {
    const { dice } = this;
    this.root = { name: 'root', version: '1.0.0', ...this.fields(4) };
    if (dice.chance(0.2)) this.addWorkspaces();
    if (dice.chance(0.12)) this.addFolders();
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

  /** A change of a package.json by hand. */
  edit() {
    const { dice, universe, temperament } = this;
    const path = dice.one(dice.chance(0.7) ? ['package.json'] : Object.keys(this.files));
    const manifest = this.files[path];
    const kind = dice.weighted({ dependencies: 5, devDependencies: 2, optionalDependencies: 1, peerDependencies: 1 });
    const listed = { ...manifest[kind] };
    const known = Object.keys(listed).filter((name) => universe[name]);
    if (known.length > 0 && dice.chance(0.35)) delete listed[dice.one(known)];
    else {
      const name = known.length > 0 && dice.chance(0.5) ? dice.one(known) : dice.one(this.names);
      listed[name] = specifier(dice, universe, name, temperament);
    }
    if (path === 'package.json' && dice.chance(0.12)) {
      const overrides = dice.chance(0.3) ? undefined : this.overrides();
      return { edit: path, fields: { overrides } };
    }
    return { edit: path, fields: { [kind]: listed } };
  }

  installed() {
    const { dice } = this;
    const name = dice.one(this.names);
    if (dice.chance(0.4)) return name;
    return `${name}@${range(dice, this.universe, name, this.temperament) || '*'}`;
  }

  run() {
    const { dice } = this;
    const command = dice.weighted({ install: 4, add: 3, uninstall: 1.5, update: 2, ci: 1.5 });
    const words = [];
    switch (command) {
      case 'add': {
        words.push('install', ...Array.from({ length: dice.chance(0.2) ? 2 : 1 }, () => this.installed()));
        const how = dice.weighted({
          '': 6,
          '--save-dev': 1,
          '--save-optional': 1,
          '--save-peer': 0.5,
          '--save-exact': 1,
          '--no-save': 0.7,
        });
        if (how) words.push(how);
        break;
      }
      case 'uninstall':
        words.push('uninstall', dice.one(this.names));
        if (dice.chance(0.1)) words.push('--no-save');
        break;
      case 'update':
        words.push('update', ...(dice.chance(0.5) ? dice.some(this.names, dice.between(1, 2)) : []));
        if (dice.chance(0.2)) words.push('--save');
        break;
      default:
        words.push(command);
    }
    if (dice.chance(0.1)) words.push(`--omit=${dice.one(['dev', 'optional', 'peer'])}`);
    if (command !== 'ci' && dice.chance(0.04)) words.push(dice.one(['--force', '--legacy-peer-deps']));
    return { run: words };
  }

  steps(tree) {
    const { dice } = this;
    const steps = [{ run: ['install'] }];
    const count = dice.chance(0.3) ? 0 : dice.between(1, 5);
    for (let index = 0; index < count; index += 1) {
      const kinds = { run: 6, edit: 3, lock: 0.5 };
      if (this.temperament.later > 0) kinds.publish = 1;
      if (tree) Object.assign(kinds, { tree: 0.4, part: 0.6, hidden: 0.3 });
      switch (dice.weighted(kinds)) {
        case 'run':
          steps.push(this.run());
          break;
        case 'edit':
          steps.push(this.edit(), { run: [dice.weighted({ install: 5, ci: 1, update: 1 })] });
          break;
        case 'publish':
          steps.push({ publish: true }, this.run());
          break;
        case 'lock':
          steps.push({ remove: 'package-lock.json' }, this.run());
          break;
        case 'tree':
          steps.push({ remove: 'node_modules' }, this.run());
          break;
        case 'part':
          steps.push({ remove: `node_modules/${dice.one(this.names)}` }, this.run());
          break;
        case 'hidden':
          steps.push({ remove: 'node_modules/.package-lock.json' }, this.run());
          break;
      }
    }
    return steps;
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
  return { universe: made.universe, files: structuredClone(files), options, steps: author.steps(tree) };
}
