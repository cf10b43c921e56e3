// Random packages with scripts that do random deeds (deeds.cjs).
import { readFileSync } from 'node:fs';
import { makePackages } from '../random/packages.mjs';

const SCRIPT = readFileSync(new URL('deeds.cjs', import.meta.url));
const EVENTS = ['preinstall', 'install', 'postinstall'];
/** Of its own files a script may do anything. */
const OWN = [
  ...['write', 'append', 'chmod', 'rename', 'replace', 'remove', 'link', 'link hard', 'deep', 'lock', 'manifest'],
  ...['print', 'close', 'nap', 'nap', 'sleep', 'fork', 'background', 'stop'],
];
/** What it does to files of other packages, which have one for each of these. */
const OTHERS = ['write into all', 'write into all, and put times back', 'chmod all', 'replace all', 'remove all'];
/** What it may do to the project, and to the command that runs it. */
const PROJECT = [
  ...[
    'remove commands',
    'remove modules',
    'remove itself',
    'remove another',
    'remove the workspace',
    'remove the lock',
  ],
  ...['move itself', 'move another', 'move modules', 'link modules', 'have a file for modules', 'chmod modules'],
  ...['empty the hidden lock', 'have a folder for the hidden lock', 'have a folder for the lock', 'cut the lock'],
  ...['install', 'rebuild', 'verify', 'kill itself', 'end who runs it'],
];

/** Files that scripts of other packages change. */
const OF_OTHERS = ['shared.txt', 'timely.txt', 'mode.txt', 'swapped.txt', 'dropped.txt'];
const OWN_FILES = ['appended.txt', 'renamed.txt', 'removed.txt'];

/** Whether a line of a listing is a file that scripts of other packages change. */
export const isOfOthers = (line) => OF_OTHERS.some((file) => line.includes(`/${file} `));

/** What scripts may do: to files of their own, to those of other packages, too, or to all of the project. */
export const REACHES = ['own', 'others', 'project'];

/** A universe of such packages. */
export function makeScripted(dice, reach) {
  const universe = makePackages(dice);
  for (const { versions } of Object.values(universe)) {
    for (const [version, fields] of Object.entries(versions)) {
      for (const file of [...OWN_FILES, ...OF_OTHERS]) fields.files[file] = `${file} ${version}\n`;
      if (dice.chance(0.4)) continue;
      fields.files['deeds.cjs'] = SCRIPT;
      const events = dice.some(EVENTS, dice.between(1, 2));
      fields.scripts = Object.fromEntries(events.map((event) => [event, makeScript(dice, reach)]));
    }
  }
  return universe;
}

function makeScript(dice, reach) {
  const deeds = dice.some(OWN, dice.between(1, 5));
  if (reach !== 'own' && dice.chance(0.5)) deeds.push(...dice.some(OTHERS, dice.between(1, 2)));
  if (reach === 'project' && dice.chance(0.35)) deeds.push(dice.one(PROJECT));
  return `node deeds.cjs ${deeds.map((deed) => `'${deed}'`).join(' ')}`;
}
