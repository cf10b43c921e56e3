/** Errors of `project.fs`, with the codes and messages of Node's `fs`. */
import { GantryError } from './errors.js';

/** As Node shows a value that it does not take. */
export function received(value: unknown): string {
  if (value === undefined || value === null) return `Received ${value}`;
  if (typeof value === 'function') return `Received function ${value.name}`;
  if (typeof value === 'object') return `Received an instance of ${value.constructor?.name ?? 'Object'}`;
  return `Received type ${typeof value} (${shown(value)})`;
}

/** An argument of another type than `expected`, which says what it must be. */
export function wrongType(name: string, expected: string, value: unknown): GantryError {
  const message = `The "${name}" argument must be ${expected}. ${received(value)}`;
  return new GantryError({ code: 'ERR_INVALID_ARG_TYPE', message });
}

/** A number that is outside of `range`, which says what it must be. */
export function outOfRange(name: string, range: string, value: number | bigint): GantryError {
  const message = `The value of "${name}" is out of range. It must be ${range}. Received ${shown(value)}`;
  return new GantryError({ code: 'ERR_OUT_OF_RANGE', message });
}

/** A value that cannot be used; `problem` says why. */
export function wrongValue(name: string, problem: string, value: unknown): GantryError {
  const message = `The argument '${name}' ${problem}. Received ${shown(value)}`;
  return new GantryError({ code: 'ERR_INVALID_ARG_VALUE', message });
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'bigint' ? `${value}n` : String(value);
}
