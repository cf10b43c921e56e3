/** What `Gantry.open` is given, looked at and as the coordinator takes it. */
import { baseAddress } from './base-address.js';
import type { OpenOptions } from './call-options.js';
import { LONGEST_TIMER } from './connection.js';
import { GantryError } from './errors.js';
import { uniqueLifeName } from './liveness.js';
import { requireSecureContext } from './origin-storage.js';
import { type OpenParameters, patienceOf, type StorageKind } from './protocol.js';
import { randomName } from './random-name.js';
import { checkedStore } from './store-name.js';

/** Fails with `STORAGE_UNAVAILABLE` where it is sure that there is none. */
export function openParameters(options: OpenOptions): OpenParameters {
  const registry = absoluteRegistry(options.registry);
  const name = checkedStore(options.store);
  const storage = checkedStorage(options.storage ?? 'opfs');
  if (storage === 'opfs') requireSecureContext();
  const store = storage === 'opfs' ? name : `memory:${randomName()}`;
  const aliveLock = uniqueLifeName('coordinator');
  const parameters: OpenParameters = { registry, store, storage, aliveLock, ...patienceOf(options) };
  if (options.scopes) parameters.scopes = options.scopes;
  if (options.token) parameters.token = options.token;
  if (options.tokens) parameters.tokens = tokensByPlace(options.tokens);
  if (options.replaceRegistryHost) parameters.replaceRegistryHost = options.replaceRegistryHost;
  if (options.wasmUrl) parameters.wasmUrl = absoluteAddress(options.wasmUrl);
  if (options.workers !== undefined) parameters.workers = options.workers;
  const { timeout } = options;
  if (timeout !== undefined && timeout <= LONGEST_TIMER) parameters.timeout = timeout;
  return parameters;
}

function absoluteAddress(address: string | URL): string {
  if (URL.canParse(address, baseAddress())) return new URL(address, baseAddress()).href;
  throw new GantryError({ code: 'INVALID_OPTION', message: `Not an address: ${JSON.stringify(address)}` });
}

function absoluteRegistry(registry: string): string {
  if (typeof registry === 'string' && URL.canParse(registry, baseAddress())) {
    const url = new URL(registry, baseAddress());
    if (url.protocol === 'http:' || url.protocol === 'https:')
      return url.href.endsWith('/') ? url.href : `${url.href}/`;
  }
  throw new GantryError({
    code: 'INVALID_OPTION',
    message: `Not the address of a registry: ${JSON.stringify(registry)}`,
    hint: 'Give an http or https address.',
  });
}

function tokensByPlace(tokens: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(tokens).map(([registry, token]): [string, string] => {
    const address = new URL(absoluteRegistry(registry));
    // Which registry it is does not depend on them.
    address.username = '';
    address.password = '';
    return [address.href, token];
  });
  return Object.fromEntries(entries);
}

function checkedStorage(storage: StorageKind): StorageKind {
  if (storage === 'opfs' || storage === 'memory') return storage;
  throw new GantryError({
    code: 'INVALID_OPTION',
    message: `Not a place for a store: ${JSON.stringify(storage)}`,
    hint: "Use 'opfs' or 'memory'.",
  });
}

/** A store in memory has no name by which it could be found. */
export function requireOpfs(options: object): void {
  if (!('storage' in options) || options.storage === 'opfs') return;
  throw new GantryError({
    code: 'INVALID_OPTION',
    message: 'Only stores in OPFS can be removed by their names',
    hint: 'A store in memory is gone when it is closed.',
  });
}
