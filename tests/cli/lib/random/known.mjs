// Differences between gantry and npm that are known and meant to stay, each with its reason. A scenario that comes to one of them
// ends there; how often each was met is told by the test.
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

export const KNOWN = {
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
    const commands = [...our, ...their].map((line) => /\.bin\/(\S+) -> /.exec(line)?.[1]);
    return commands.length > 0 && commands.every((command) => command && isShared(command, scenario));
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
