// What is done with a random project, step by step. A step is one of `{ run: [command, ...words] }`, `{ edit: path, fields }`
// (fields of a package.json, undefined removes), `{ write: path, content }`, `{ rename: path, to }`, `{ remove: path }`,
// `{ damage, at, version }` (see files.mjs) and `{ publish: true }`.
import { DAMAGES } from './files.mjs';
import { KINDS, range, specifier } from './universe.mjs';

export class Director {
  /** `author` is who wrote the project. */
  constructor(author) {
    this.author = author;
    this.dice = author.dice;
    this.universe = author.universe;
    this.temperament = author.temperament;
    this.names = author.names;
  }

  /** A change of a package.json by hand. */
  edit() {
    const { dice, universe, temperament } = this;
    const { files } = this.author;
    const manifests = Object.keys(files).filter((path) => path.endsWith('package.json'));
    const path = dice.one(dice.chance(0.7) ? ['package.json'] : manifests);
    const kind = dice.weighted({ dependencies: 5, devDependencies: 2, optionalDependencies: 1, peerDependencies: 1 });
    const listed = { ...files[path][kind] };
    const known = Object.keys(listed).filter((name) => universe[name]);
    if (known.length > 0 && dice.chance(0.35)) delete listed[dice.one(known)];
    else {
      const name = known.length > 0 && dice.chance(0.5) ? dice.one(known) : dice.one(this.names);
      listed[name] = specifier(dice, universe, name, temperament);
    }
    if (path === 'package.json' && dice.chance(0.12)) {
      const overrides = dice.chance(0.3) ? undefined : this.author.overrides();
      return { edit: path, fields: { overrides } };
    }
    return { edit: path, fields: { [kind]: listed } };
  }

  /** What is named to be installed. */
  installed() {
    const { dice, universe, temperament } = this;
    const { tarballs, folders } = this.author;
    const local = [...tarballs, ...folders];
    if (local.length > 0 && dice.chance(0.3)) return dice.one(['./', 'file:']) + dice.one(local);
    const name = dice.one(this.names);
    if (dice.chance(0.4)) return name;
    const alias = dice.chance(temperament.aliases) ? `${dice.one([...this.names, 'alias'])}@npm:` : '';
    const wanted = dice.chance(0.15) ? dice.one(['latest', 'next']) : range(dice, universe, name, temperament);
    return `${alias}${name}@${wanted || '*'}`;
  }

  /** Which workspaces a command is for. */
  chosen() {
    const { dice } = this;
    const { workspaces } = this.author;
    if (workspaces.length === 0 || !dice.chance(0.45)) return [];
    const words = [];
    const how = dice.weighted({ some: 6, folder: 1, all: 1.5, none: 1, root: 0.5 });
    if (how === 'some') {
      for (const { name } of dice.some(workspaces, dice.chance(0.8) ? 1 : 2)) words.push(`--workspace=${name}`);
    } else if (how === 'folder') {
      words.push(`--workspace=packages${dice.chance(0.5) ? '' : `/${dice.one([...'lmz'])}`}`);
    } else if (how !== 'root') {
      words.push(how === 'all' ? '--workspaces' : '--no-workspaces');
    }
    if (how === 'root' || dice.chance(0.2)) words.push('--include-workspace-root');
    return words;
  }

  run() {
    const { dice } = this;
    const command = dice.weighted({ install: 4, add: 3, uninstall: 1.5, update: 2, ci: 1.5, prune: 0.7, dedupe: 0.7 });
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
          '--save-prod': 0.3,
          '--save-bundle': 0.3,
          '--no-save': 0.7,
          '--tag=next': 0.3,
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
    words.push(...this.chosen());
    const kinds = ['dev', 'optional', 'peer'];
    if (dice.chance(command === 'ci' ? 0.3 : 0.1)) {
      for (const kind of dice.some(kinds, dice.chance(0.7) ? 1 : 2)) words.push(`--omit=${kind}`);
      if (dice.chance(0.1)) words.push(`--include=${dice.one(kinds)}`);
    }
    if (command !== 'ci' && dice.chance(0.04)) words.push(dice.one(['--force', '--legacy-peer-deps']));
    if (dice.chance(0.02)) words.push('--no-package-lock');
    return { run: words };
  }

  /** A change of the lock by hand, or by git. */
  damage() {
    const { dice, universe } = this;
    const versions = Object.values(universe).flatMap((each) => Object.keys(each.versions));
    return { damage: dice.one(DAMAGES), at: dice.between(0, 99) / 100, version: dice.one(versions) };
  }

  /** A lock of yarn, for some of what the project and its packages ask for. */
  yarn() {
    const { dice, universe } = this;
    const manifests = Object.entries(this.author.files).filter(([path]) => path.endsWith('package.json'));
    const asking = [
      ...manifests.map(([, fields]) => fields),
      ...Object.values(universe).flatMap(({ versions }) => Object.values(versions)),
    ];
    const specs = asking.flatMap((fields) => KINDS.flatMap((kind) => Object.entries(fields[kind] ?? {})));
    const entries = new Map();
    for (const [name, spec] of dice.some(specs, dice.between(0, 8))) {
      if (!universe[name] || spec.includes(':')) continue;
      const version = dice.one(Object.keys(universe[name].versions));
      const file = `${name.replace(/.*\//, '')}-${version}.tgz`;
      const fields = { version, dependencies: universe[name].versions[version].dependencies };
      if (dice.chance(0.7)) fields.resolved = `${name}/-/${file}`;
      const known = entries.get(`${name}@${version}`) ?? { specs: [], fields };
      if (!known.specs.includes(`${name}@${spec}`)) known.specs.push(`${name}@${spec}`);
      entries.set(`${name}@${version}`, known);
    }
    return { write: 'yarn.lock', content: [...entries.values()] };
  }

  /** Something that happens beside the commands; `has` says what there is. */
  event(kind) {
    const { dice } = this;
    switch (kind) {
      case 'edit':
        return [this.edit(), { run: [dice.weighted({ install: 5, ci: 1, update: 1 }), ...this.chosen()] }];
      case 'publish':
        return [{ publish: true }, this.run()];
      case 'lock':
        return [{ remove: 'package-lock.json' }, this.run()];
      case 'tree':
        return [{ remove: 'node_modules' }, this.run()];
      case 'part':
        return [{ remove: `node_modules/${dice.one(this.names)}` }, this.run()];
      case 'hidden':
        return [{ remove: 'node_modules/.package-lock.json' }, this.run()];
      case 'damage':
        return [this.damage(), this.run()];
      case 'shrinkwrap':
        return [{ rename: 'package-lock.json', to: 'npm-shrinkwrap.json' }, this.run()];
      case 'yarn':
        return [this.yarn(), ...(dice.chance(0.6) ? [{ remove: 'package-lock.json' }] : []), this.run()];
      default:
        return [this.run()];
    }
  }

  steps(tree) {
    const { dice, temperament } = this;
    const steps = temperament.yarn > 0 && dice.chance(0.5) ? [this.yarn()] : [];
    steps.push({ run: ['install', ...(dice.chance(0.2) ? this.chosen() : [])] });
    const kinds = { run: 6, edit: 3, lock: 0.5 };
    if (temperament.later > 0) kinds.publish = 1;
    if (temperament.damage > 0) kinds.damage = 3;
    if (temperament.yarn > 0) kinds.yarn = 1;
    if (temperament.locks > 0) kinds.shrinkwrap = 1;
    if (tree) Object.assign(kinds, { tree: 0.4, part: 0.6, hidden: 0.3 });
    const count = dice.chance(0.3) ? 0 : dice.between(1, 5);
    for (let index = 0; index < count; index += 1) steps.push(...this.event(dice.weighted(kinds)));
    return steps;
  }
}
