// A project that depends on everything that npm knows: packages of the registry with peers and bundles, folders, tarballs and
// git repositories on the disk, workspaces. And random commands that change it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rangeOf } from '../random/packages.mjs';
import { packed } from '../random/registry.mjs';

const json = (value) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Besides random packages. */
const SPECIAL = {
  host: { tags: { latest: '2.0.0' }, versions: { '1.0.0': {}, '1.5.0': {}, '2.0.0': {} } },
  plugin: {
    tags: { latest: '1.1.0' },
    versions: { '1.0.0': { peerDependencies: { host: '>=1' } }, '1.1.0': { peerDependencies: { host: '1 || 2' } } },
  },
  carrier: {
    tags: { latest: '1.0.0' },
    versions: {
      '1.0.0': {
        dependencies: { inside: '1' },
        bundleDependencies: ['inside'],
        carries: { inside: { version: '1.0.0' } },
      },
    },
  },
};

export const withSpecial = (universe) => ({ ...universe, ...structuredClone(SPECIAL) });

/** Makes what projects can depend on beside a registry below `folder`; tells their specs, by name. */
export function makeSources(folder) {
  const write = (path, content) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  write('tool/package.json', json({ name: 'tool', version: '1.0.0', bin: 'cli.js', dependencies: { host: '1' } }));
  write('tool/cli.js', '#!/usr/bin/env node\n');
  const git = (...words) => execFileSync('git', ['-C', join(folder, 'tool'), ...words], { stdio: 'ignore' });
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@test'];
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git(...author, 'commit', '--quiet', '--message', 'first');
  return { tool: `git+file://${join(folder, 'tool')}`, local: 'file:libraries/local', thing: 'file:packs/thing.tgz' };
}

/** Files of a project: its manifests, what it depends on, and what else somebody has there. */
export function makeProject(dice, universe, sources) {
  const names = dice.some(Object.keys(universe), dice.between(2, 5));
  const ofRegistry = (taken) => Object.fromEntries(taken.map((name) => [name, rangeOf(dice, universe, name)]));
  const others = Object.fromEntries(dice.some(Object.entries(sources), dice.between(0, 3)));
  const isMany = dice.chance(0.4);
  const cut = dice.between(1, names.length);
  const files = {
    'package.json': json({
      name: 'project',
      version: '1.0.0',
      ...(isMany && { workspaces: ['packages/*'] }),
      dependencies: { ...ofRegistry(names.slice(0, cut)), ...others },
      devDependencies: ofRegistry(names.slice(cut)),
    }),
    'libraries/local/package.json': json({ name: 'local', version: '1.0.0', dependencies: { plugin: '1' } }),
    'packs/thing.tgz': packed({
      name: 'thing',
      version: '1.0.0',
      bin: { thing: 'cli.js' },
      bundleDependencies: ['carried'],
      dependencies: { carried: '1', host: '*' },
      carries: { carried: { version: '1.0.0' } },
    }),
    'source.js': 'mine\n',
    'libraries/notes.txt': 'mine\n',
  };
  if (isMany) {
    for (const name of ['one', 'two']) {
      const some = dice.some(Object.keys(universe), dice.between(0, 2));
      files[`packages/${name}/package.json`] = json({ name, version: '1.0.0', dependencies: ofRegistry(some) });
    }
  }
  return files;
}

/** How often each is run. */
const WEIGHTS = {
  install: 5,
  add: 4,
  source: 2,
  uninstall: 2,
  update: 1.5,
  prune: 1,
  dedupe: 1,
  ci: 4,
};

export function makeChange(dice, universe, sources, isMany) {
  const action = dice.weighted(WEIGHTS);
  const name = dice.one(Object.keys(universe));
  const words =
    {
      add: () => ['install', `${name}@${rangeOf(dice, universe, name)}`, ...(dice.chance(0.2) ? ['--save-dev'] : [])],
      source: () => ['install', dice.one(Object.values(sources))],
      uninstall: () => ['uninstall', dice.chance(0.6) ? name : dice.one(Object.keys(sources))],
      update: () => ['update', ...(dice.chance(0.5) ? [name] : [])],
    }[action] ?? (() => [action]);
  const line = words();
  if (dice.chance(0.12)) line.push(`--omit=${dice.one(['dev', 'optional', 'peer'])}`);
  if (isMany && dice.chance(0.25) && action !== 'source') line.push(`--workspace=${dice.one(['one', 'two'])}`);
  return { action, words: line };
}
