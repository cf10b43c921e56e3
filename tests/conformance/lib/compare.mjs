// A lock beside npm's: how much of npm's is there, what is there besides, and where they first differ.
import { entriesOf, withoutOwn } from './locks.mjs';

/** Measures from the weakest to the strongest. */
export const MEASURES = ['packages', 'versions', 'placement', 'flags', 'text'];
/** How many differences are shown. */
const SHOWN = 3;

/**
 * One measure: `found` of npm's `wanted`, and `extra` things that npm has not.
 * @typedef {{ found: number, wanted: number, extra: number }} Score
 * @typedef {Partial<Record<string, Score>>} Scores
 */

/** What each measure looks at; it is equal where these sets are.
 * @type {Record<string, (entry: import('./locks.mjs').Entry) => string>} */
const keys = {
  packages: ({ name }) => name,
  versions: ({ name, version }) => `${name}@${version}`,
  placement: ({ path, name, version }) => `${path}: ${name}@${version}`,
  flags: ({ path, name, version, flags }) => `${path}: ${name}@${version} [${flags}]`,
};

/** @param {Score | undefined} score */
export const isFull = (score) => score !== undefined && score.found === score.wanted && score.extra === 0;

/** @param {Set<string>} theirs @param {Set<string>} ours @returns {Score} */
function score(theirs, ours) {
  const found = [...ours].filter((key) => theirs.has(key)).length;
  return { found, wanted: theirs.size, extra: ours.size - found };
}

/** @param {import('./locks.mjs').Entry[]} entries @param {string} measure */
const setOf = (entries, measure) => new Set(entries.map(keys[measure]));

/** @param {import('./locks.mjs').Entry[]} wanted @param {import('./locks.mjs').Entry[]} entries
 * @param {string[]} measures @returns {Scores} */
const scoresOf = (wanted, entries, measures) =>
  Object.fromEntries(measures.map((measure) => [measure, score(setOf(wanted, measure), setOf(entries, measure))]));

/** Entries of a peer beside npm's. What is the project's own is left out: every tool writes it down in another way.
 * @param {string} npmText @param {import('./locks.mjs').Entry[]} entries @param {string[]} measures @returns {Scores} */
export const comparePeer = (npmText, entries, measures) =>
  scoresOf(withoutOwn(entriesOf(npmText)), withoutOwn(entries), measures);

/** A lock in npm's form beside npm's. @param {string} npmText @param {string} text
 * @returns {{ scores: Scores, differences: string[] }} */
export function compareLocks(npmText, text) {
  const [wanted, entries] = [entriesOf(npmText), entriesOf(text)];
  const scores = scoresOf(wanted, entries, Object.keys(keys));
  scores.text = { found: text === npmText ? 1 : 0, wanted: 1, extra: 0 };
  const missed = Object.keys(keys).find((measure) => !isFull(scores[measure]));
  if (missed === undefined) return { scores, differences: text === npmText ? [] : differentLines(npmText, text) };
  return { scores, differences: differentKeys(setOf(wanted, missed), setOf(entries, missed)) };
}

/** @param {Set<string>} theirs @param {Set<string>} ours */
function differentKeys(theirs, ours) {
  const missing = [...theirs].filter((key) => !ours.has(key)).map((key) => `npm has ${key}`);
  const extra = [...ours].filter((key) => !theirs.has(key)).map((key) => `npm has not ${key}`);
  return [...missing.slice(0, SHOWN), ...extra.slice(0, SHOWN)];
}

/** @param {string} theirs @param {string} ours */
function differentLines(theirs, ours) {
  const [npmLines, lines] = [theirs.split('\n'), ours.split('\n')];
  const at = npmLines.findIndex((line, index) => line !== lines[index]);
  return [`line ${at + 1}: npm writes \`${npmLines[at]?.trim()}\`, not \`${lines[at]?.trim()}\``];
}
