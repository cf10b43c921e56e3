/** The names of stores. */
import { GantryError } from './errors.js';

const DEFAULT_STORE = 'gantry';

/** The name of a store, which is a folder's. */
export function checkedStore(store: string = DEFAULT_STORE): string {
  if (/^[\w.-]{1,64}$/.test(store) && !/^\.+$/.test(store)) return store;
  throw new GantryError({
    code: 'INVALID_OPTION',
    message: `Not a store name: ${JSON.stringify(store)}`,
    hint: 'Use letters, digits, ".", "_" and "-", at most 64.',
  });
}
