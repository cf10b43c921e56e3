// Random commands: in which project, with which words, when, and whether and when they are ended from outside.
import { rangeOf } from '../random/packages.mjs';

/** How often each is run. */
const WEIGHTS = {
  install: 6,
  add: 5,
  uninstall: 3,
  ci: 5,
  update: 2,
  prune: 1,
  dedupe: 1,
  'install --dry-run': 0.5,
  'install --lockfile-only': 0.5,
  'find-dupes': 0.4,
  why: 0.5,
  explain: 0.3,
  'store verify': 1,
  'store prune': 1.5,
  'store clear': 0.3,
  'store status': 0.4,
  'store ls': 0.4,
};

/** What leaves a project with a tree and a lock that are of one another. */
const INSTALLS = 'install add uninstall ci update prune dedupe'.split(' ');

/** What may ask the registry. */
const ASKING = [...INSTALLS, 'install --dry-run', 'install --lockfile-only', 'find-dupes', 'explain'];

export const isInstall = ({ action }) => INSTALLS.includes(action);
export const isAsking = ({ action }) => ASKING.includes(action);

export function makeCall(dice, universe, projects) {
  const project = dice.one(projects);
  const action = dice.weighted(WEIGHTS);
  const name = dice.one(Object.keys(universe));
  const words = [];
  switch (action) {
    case 'add':
      words.push('install', dice.chance(0.4) ? name : `${name}@${rangeOf(dice, universe, name)}`);
      if (dice.chance(0.2)) words.push('--save-dev');
      break;
    case 'uninstall':
    case 'why':
      words.push(action, name);
      break;
    case 'update':
      words.push(action, ...(dice.chance(0.5) ? [name] : []));
      break;
    default:
      words.push(...action.split(' '));
  }
  const cache = dice.weighted({ none: 6, '--offline': 1, '--prefer-offline': 1, '--prefer-online': 1 });
  if (ASKING.includes(action) && cache !== 'none') words.push(cache);
  const signal = dice.weighted({ none: 8, SIGINT: 1, SIGTERM: 0.5, SIGKILL: 1.5 });
  return {
    project,
    action,
    name,
    words,
    isOffline: words.includes('--offline'),
    isStale: /offline/.test(cache),
    delay: dice.one([0, 0, 0, 10, 40]),
    ...(signal !== 'none' && { signal, after: dice.between(0, dice.one([30, 100, 400])) }),
  };
}
