// Differences between gantry and npm that are known and meant to stay, each with its reason. A scenario that comes to one of them
// ends there; how often each was met is told by the test.
import { isDeepStrictEqual } from 'node:util';
import { CRASHED } from './pair.mjs';

/** Lines of one text that the other lacks, both ways. */
function differing(ours, theirs) {
  const [our, their] = [ours, theirs].map((text) => text.split('\n'));
  const [inOurs, inTheirs] = [new Set(our), new Set(their)];
  return { our: our.filter((line) => !inTheirs.has(line)), their: their.filter((line) => !inOurs.has(line)) };
}

/** Whether several packages, or one under several names, have this command. */
function isShared(command, { universe, files }) {
  const has = ({ versions }) => Object.values(versions).some(({ bin }) => bin && Object.hasOwn(bin, command));
  const owners = Object.values(universe).filter(has).length;
  return owners > 1 || (owners === 1 && JSON.stringify([universe, files]).includes('"npm:'));
}

/** Whether the lock is one of version 1. */
function isOfVersion1({ run }, { options }) {
  return [...options, ...(run ?? [])].includes('--lockfile-version=1');
}

/** The tree of an old lock without packages of no version. */
function withoutVersionless(dependencies) {
  const left = Object.entries(dependencies ?? {}).flatMap(([name, { dependencies: inner, ...entry }]) => {
    const below = withoutVersionless(inner);
    return entry.version || below ? [[name, below ? { ...entry, dependencies: below } : entry]] : [];
  });
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

/** Whether an argument names something on this machine. */
const isLocal = (word) => word.startsWith('./') || word.startsWith('file:');

export const KNOWN = {
  'npm lists optional packages that could not be had in old locks, where it says itself that they make them invalid': ({
    what,
    ours,
    theirs,
  }) => {
    if (!what.endsWith('package-lock.json') || [ours, theirs].some((text) => !text.startsWith('{'))) return false;
    const [our, their] = [ours, theirs].map((text) => JSON.parse(text));
    if (!their.dependencies) return false;
    const { dependencies, ...rest } = their;
    const left = withoutVersionless(dependencies);
    return isDeepStrictEqual(our, left ? { ...rest, dependencies: left } : rest);
  },
  'npm adds what is at a path to several workspaces by the path that one of them has it at': ({ run, theirs }) =>
    theirs !== undefined &&
    run?.[0] === 'install' &&
    run.some(isLocal) &&
    (run.includes('--workspaces') ||
      run.filter((word) => /^--(workspace=|include-workspace-root)/.test(word)).length > 1),
  'npm ends by an error of its own programming, or not at all': ({ what, theirs }) =>
    what === 'outcome' && theirs.startsWith(CRASHED),
  'npm saves an optional package that could not be had as npm:null@…': ({ what, theirs }) =>
    what !== 'outcome' && theirs.includes('"npm:null@'),
  'which of several packages has a command, if any, depends in npm on what was installed when': (
    { what, ours, theirs },
    scenario,
  ) => {
    if (what !== 'tree') return false;
    const { our, their } = differing(ours, theirs);
    const links = [...our, ...their].map((line) => /\.bin\/(\S+) -> /.exec(line)?.[1]);
    return links.length > 0 && links.every((command) => command && isShared(command, scenario));
  },
  // In gantry's store it is for all packages that have one.
  'npm makes the file of a command executable only where it links to it': ({ what, ours, theirs }, scenario) => {
    if (what !== 'tree') return false;
    const bare = (line) => (/\/cli\.js [0-7]{3} /.test(line) ? line.replace(/ [0-7]{3} (?=[^ ]+$)/, ' ') : line);
    const { our, their } = differing(...[ours, theirs].map((text) => text.split('\n').map(bare).join('\n')));
    const commands = Object.values(scenario.universe).flatMap(({ versions }) =>
      Object.values(versions).flatMap(({ bin }) => Object.keys(bin ?? {})),
    );
    return our.length + their.length === 0 && commands.some((command) => isShared(command, scenario));
  },
  'npm loses a package that the project itself asks for, where another one is nested without end': ({
    what,
    ours,
    theirs,
  }) => {
    if (what !== 'package-lock.json' || [ours, theirs].some((text) => !text.startsWith('{'))) return false;
    const [our, their] = [ours, theirs].map((text) => JSON.parse(text).packages ?? {});
    const { dependencies, devDependencies } = their[''] ?? {};
    return Object.keys({ ...dependencies, ...devDependencies }).some(
      (name) => our[`node_modules/${name}`] && !their[`node_modules/${name}`],
    );
  },
  'npm notes of a workspace in the hidden lock what was added to it and not saved, optional ones also as ordinary': ({
    what,
    ours,
    theirs,
    run,
  }) => {
    if (what !== 'node_modules/.package-lock.json' || !run.includes('--no-save')) return false;
    if (![ours, theirs].every((text) => text.startsWith('{'))) return false;
    const [our, their] = [ours, theirs].map((text) => JSON.parse(text));
    for (const { packages } of [our, their]) {
      for (const [path, entry] of Object.entries(packages))
        if (!path.includes('node_modules/')) delete entry.dependencies;
    }
    return isDeepStrictEqual(our, their);
  },
  // Why was not found out.
  'npm says of links to packages that hold them where these came from in yarn.lock, or that they are links': ({
    what,
    ours,
    theirs,
  }) => {
    if (what !== 'yarn.lock') return false;
    const { our } = differing(ours, theirs);
    return our.length > 0 && our.every((line) => line.startsWith('  resolved "file:node_modules/'));
  },
  // Its links keep the package.json that they were made with, and what is saved goes to what they lead to (`updateNodes` in
  // `reify.js`); the next install writes the new ones.
  'npm writes of a workspace into yarn.lock what it needed before it was changed': ({ what, ours, theirs, run }) => {
    const isChange = ['install', 'uninstall', 'update'].includes(run?.[0]);
    const isOfWorkspaces = run?.some((word) => /^--workspaces?(=|$)/.test(word));
    if (what !== 'yarn.lock' || !isChange || !isOfWorkspaces) return false;
    const others = (text) => text.split('\n\n').filter((block) => !/^ {2}resolved "file:packages\//m.test(block));
    return isDeepStrictEqual(others(ours), others(theirs));
  },
  'npm update --save also writes into folders that are linked to and are no workspaces': ({ theirs, run }, { files }) =>
    theirs !== undefined &&
    run?.[0] === 'update' &&
    run.includes('--save') &&
    Object.keys(files).some((file) => file.startsWith('folder-')),
  'npm loses workspaces from its tree that are peers of what another one needs': (
    { what, ours, theirs },
    { files },
  ) => {
    const isLost = (folder) =>
      [ours, theirs].map((text) => text.includes(`"resolved": "${folder}"`)).join() === 'true,false';
    const workspaces = Object.keys(files).flatMap((file) => /^(packages\/.*)\/package\.json$/.exec(file)?.[1] ?? []);
    return what === 'package-lock.json' && workspaces.some(isLost);
  },
  // Seen once, after an optional dependency of that folder could not be had; why was not found out.
  'npm update leaves out all that a linked folder needs': ({ what, ours, theirs, run }, { files }) => {
    const isLost = (folder) =>
      [ours, theirs].map((text) => text.includes(`"${folder}/node_modules/`)).join() === 'true,false';
    const folders = Object.keys(files).flatMap((file) => /^(folder-.*)\/package\.json$/.exec(file)?.[1] ?? []);
    return what === 'package-lock.json' && run[0] === 'update' && folders.some(isLost);
  },
  'from a tree and with lockfile-version=1 npm inflates its own hidden lock as an old one': (difference, scenario) =>
    difference.what.endsWith('package-lock.json') &&
    isOfVersion1(difference, scenario) &&
    scenario.steps.some(({ remove }) => remove === 'package-lock.json'),
  'npm brings what is in tarballs up to date in a lock of version 1 where nothing else changes': (
    difference,
    scenario,
  ) =>
    difference.what === 'package-lock.json' &&
    isOfVersion1(difference, scenario) &&
    JSON.stringify(scenario.universe).includes('"carries"'),
  // What it puts in the place of something that only the chosen part of the tree before led to it notes as it was before (`reroot`
  // in `reify.js`): the tree has the one, the hidden lock the other.
  'npm notes in the hidden lock the old version of what it replaced for the sake of chosen workspaces': ({
    what,
    ours,
    theirs,
    run,
  }) => {
    if (what !== 'node_modules/.package-lock.json' || !run.some((word) => word.startsWith('--workspace'))) return false;
    if (![ours, theirs].every((text) => text.startsWith('{'))) return false;
    const [our, their] = [ours, theirs].map((text) => JSON.parse(text).packages);
    if (!isDeepStrictEqual(Object.keys(our), Object.keys(their))) return false;
    const others = Object.keys(our).filter((path) => !isDeepStrictEqual(our[path], their[path]));
    return others.length > 0 && others.every((path) => our[path].version !== their[path].version);
  },
  // It reads them anew from the tarball, or takes them from the tree (`loadBundlesAndUpdateTrees`, `diffNode` of `diff.js`).
  'npm takes back in the hidden lock what it looked up of what tarballs bring along for a lock of version 1': (
    difference,
    scenario,
  ) => {
    const { what, ours, theirs } = difference;
    if (what !== 'node_modules/.package-lock.json' || !isOfVersion1(difference, scenario)) return false;
    if (![ours, theirs].every((text) => text.startsWith('{'))) return false;
    const [our, their] = [ours, theirs].map((text) => JSON.parse(text));
    for (const { packages } of [our, their]) {
      for (const entry of Object.values(packages)) {
        if (entry.inBundle) for (const member of ['integrity', 'dependencies']) delete entry[member];
      }
    }
    return isDeepStrictEqual(our, their);
  },
  'npm ci misses links to a package itself in a lock of version 1, which has none': (difference, scenario) =>
    difference.what === 'outcome' &&
    difference.run[0] === 'ci' &&
    difference.ours === 'done' &&
    difference.theirs === 'EUSAGE' &&
    isOfVersion1(difference, scenario),
};

/** The name of the known difference that this is, if it is one. */
export function knownAs(difference, scenario) {
  return Object.keys(KNOWN).find((name) => KNOWN[name](difference, scenario));
}
