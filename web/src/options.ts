/**
 * What callers give as options is looked at before anything is done: whoever writes JavaScript, or has a type that is wrong,
 * gets an `INVALID_OPTION` that names the option. A name that is none is refused, too: an install whose `frozen` is misspelt
 * would change the lock.
 *
 * What only the coordinator can judge, such as a range or a date, it refuses with the same code.
 */
import { isSignal } from './aborted.js';
import { GantryError } from './errors.js';
import { isPlainObject } from './plain-object.js';

/** Says what is wrong with a value, so that it can follow the option's name; nothing if nothing is. */
export type Check = (value: unknown) => string | undefined;

/** Every option of a call, so that none is forgotten; `undefined` where nothing is to be looked at here. */
export type Checks<Options> = { readonly [Name in keyof Required<Options>]: Check | undefined };

const MOST_WORKERS = 64;

/** Refuses what cannot be used of the options of `call`. An option that is `undefined` was not given. */
export function checkOptions<Options>(call: string, options: unknown, checks: Checks<Options>): void {
  if (typeof options !== 'object' || options === null) {
    throw invalid(`${call} takes its options as an object: ${shown(options)} is none`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(checks, name)) throw unknownOption(call, name, Object.keys(checks));
    const problem = checks[name as keyof Options]?.(value);
    if (problem !== undefined) throw invalid(`${name}: ${shown(value)} ${problem}`);
  }
}

export const signal: Check = (value) => {
  if (isSignal(value)) return undefined;
  const hasOne = typeof value === 'object' && value !== null && 'signal' in value;
  return hasOne && isSignal(value.signal) ? 'is no AbortSignal, but has one: .signal' : 'is no AbortSignal';
};

/** `Infinity` is as good as none. */
export const milliseconds: Check = (value) =>
  typeof value === 'number' && value >= 0 ? undefined : 'is no number of milliseconds';

export const workers: Check = (value) => {
  const isCount = Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST_WORKERS;
  return isCount ? undefined : `is no whole number from 1 to ${MOST_WORKERS}`;
};

export const listener: Check = (value) => (typeof value === 'function' ? undefined : 'is no function');

export const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'is neither true nor false');

export const text: Check = (value) => (typeof value === 'string' ? undefined : 'is no text');

export const textOrNull: Check = (value) => (value === null ? undefined : text(value));

/** A `Map`, a `Promise` and the like would be taken for an empty one. */
export const record: Check = (value) => (isPlainObject(value) ? undefined : 'is no plain object');

/** One text, or several: a text by itself must not be taken for the list of its letters. */
export function textsIn(name: string, value: unknown): string[] {
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  const others = texts.filter((item) => typeof item !== 'string' || item === '');
  if (others.length === 0) return texts as string[];
  throw invalid(`${name}: ${shown(others[0])} is no name`, 'Give one as a text, or several as a list of texts.');
}

export function invalid(message: string, hint?: string, cause?: unknown): GantryError {
  const data = { code: 'INVALID_OPTION', message, ...(hint !== undefined && { hint }) } as const;
  return new GantryError(data, cause === undefined ? undefined : { cause });
}

/** A value in a message. What it has inside is nobody's business there: it may be a token. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.prototype.toString.call(value);
}

function unknownOption(call: string, name: string, known: string[]): GantryError {
  const nearest = nearestTo(name, known);
  const hint = nearest === undefined ? `There are ${known.sort().join(', ')}.` : `Did you mean ${nearest}?`;
  return invalid(`${call} has no option ${shown(name)}`, hint);
}

/** What was probably meant: as few other letters as a slip or another habit makes. */
function nearestTo(name: string, known: readonly string[]): string | undefined {
  const most = Math.min(2, Math.floor(name.length / 3));
  const distances = known.map((other) => [distance(name.toLowerCase(), other.toLowerCase()), other] as const);
  const [nearest] = distances.sort(([a], [b]) => a - b);
  return nearest && nearest[0] <= most ? nearest[1] : undefined;
}

/** How many letters are to be put in, left out or replaced to make one text of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column++) {
      const replaced = (row[column] as number) + (letter === to[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] as number) + 1, (next[column] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}
