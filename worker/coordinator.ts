/**
 * Coordinator worker: owns one store. Loads the wasm module, starts the unpack workers and serves the page's calls.
 *
 * Reads are answered while an install runs. Installs and `clear` change the tree, so they go one after the other.
 */
import { announceChanges } from '../changes.js';
import { GantryError, toErrorData } from '../errors.js';
import { holdForLife } from '../liveness.js';
import {
  type Method,
  type Methods,
  type OpenParameters,
  type Parameters,
  patienceOf,
  type Request,
  type Response,
  type Result,
} from '../protocol.js';
import { holdStore, withoutReaders } from '../store-lock.js';
import { Coordinator, compile, instantiate, openStoreFolder, type WasmCoordinator } from '../wasm.js';
import { whileHeld } from '../while-held.js';
import { Archives } from './archives.js';
import { buffersOf } from './buffers.js';
import { EventBatch } from './events.js';
import { defaultPoolSize, Pool } from './pool.js';
import { hasStore, requireStorage } from './storage.js';
import { reportTraps } from './traps.js';
import { UnpackWorker } from './unpack-worker.js';

interface Call<M extends Method> {
  signal: AbortSignal;
  /** Missing where nobody listens. */
  emit: ((events: Methods[M]['event'][]) => void) | undefined;
}

type Handlers = { [M in Method]: (parameters: Parameters<M>, call: Call<M>) => Promise<Result<M>> | Result<M> };

interface OpenStore {
  name: string;
  coordinator: WasmCoordinator;
  pool: Pool;
  archives: Archives;
  release(): void;
}

const scope = self as unknown as DedicatedWorkerGlobalScope;
const aborts = new Map<number, { method: Method; controller: AbortController }>();
/** Reads being answered. */
const reads = new Set<Promise<unknown>>();
/** These go one after the other, and so are never under way beside a close. */
const IN_TURN: ReadonlySet<Method> = new Set([
  'open',
  'install',
  'explain',
  'verify',
  'removeProject',
  'prune',
  'clear',
  'close',
]);
let store: OpenStore | undefined;
/** The last of the calls that change the tree. */
let lastChange: Promise<unknown> = Promise.resolve();
/** Reads wait for this: packages are being moved. */
let moving: Promise<unknown> | undefined;

const handlers: Handlers = {
  open,
  install: (request, { signal, emit }) => inTurn(signal, () => install(request, signal, emit)),
  explain: (request, { signal }) => inTurn(signal, () => explain(request, signal)),
  project: ({ name }) => opened().coordinator.project(name),
  why: async ({ project, query }) => JSON.parse(opened().coordinator.why(project, query)),
  readFile: ({ project, path }) => opened().coordinator.readFile(project, path),
  readMany: ({ project, paths }) => opened().coordinator.readMany(project, paths),
  readdir: ({ project, path, recursive }) => opened().coordinator.readdir(project, path, recursive),
  stat: ({ project, path }) => opened().coordinator.stat(project, path),
  lstat: ({ project, path }) => opened().coordinator.lstat(project, path),
  readlink: ({ project, path }) => opened().coordinator.readlink(project, path),
  realpath: ({ project, path }) => opened().coordinator.realpath(project, path),
  locate: ({ project, path }) => opened().coordinator.locate(project, path),
  readRanges: ({ keys, offsets, sizes }) => opened().coordinator.readRanges(keys, offsets, sizes),
  listing: ({ project }) => opened().coordinator.listing(project),
  archive: ({ project, format }) => opened().archives.begin(opened().coordinator.archive(project, format)),
  archivePart: ({ archive }) => opened().archives.part(archive),
  endArchive: ({ archive }) => opened().archives.end(archive),
  treeDigest: ({ project }) => opened().coordinator.treeDigest(project),
  usage: () => opened().coordinator.usage(),
  verify: (_, { signal }) => inTurn(signal, () => verify(signal)),
  projects: () => opened().coordinator.projects(),
  removeProject: ({ name }, { signal }) => inTurn(signal, () => removeProject(name)),
  prune: (_, { signal }) => inTurn(signal, prune),
  clear: (_, { signal }) => inTurn(signal, clear),
  close: (_, { signal }) => {
    abortChanges();
    return inTurn(signal, close);
  },
};

const isTrap = reportTraps((fatal) => post({ fatal }));
scope.addEventListener('message', (message: MessageEvent<Request>) => void receive(message.data));

async function receive(request: Request): Promise<void> {
  if ('abort' in request) {
    aborts.get(request.abort)?.controller.abort();
    return;
  }
  if ('failed' in request) {
    UnpackWorker.failed(request);
    return;
  }
  const { id, method, parameters, listens } = request;
  const controller = new AbortController();
  aborts.set(id, { method, controller });
  try {
    // The table pairs each method with its parameters; TypeScript cannot follow that through a union.
    const handler = handlers[method] as (parameters: unknown, call: Call<never>) => unknown;
    while (moving && !IN_TURN.has(method)) await moving;
    const emit = listens ? (events: unknown[]) => post({ id, events }) : undefined;
    const answer = Promise.resolve(handler(parameters, { signal: controller.signal, emit }));
    if (!IN_TURN.has(method)) {
      reads.add(answer);
      answer.finally(() => reads.delete(answer)).catch(() => {});
    }
    const result = await answer;
    post({ id, result }, buffersOf(result));
  } catch (error) {
    if (!isTrap(error)) post({ id, error: toErrorData(error) });
  } finally {
    aborts.delete(id);
  }
}

function post(response: Response, transfer: Transferable[] = []): void {
  scope.postMessage(response, transfer);
}

async function open(parameters: OpenParameters, { signal, emit }: Call<'open'>): Promise<undefined> {
  await requireStorage();
  await holdForLife(parameters.aliveLock);
  emit?.([{ type: 'alive' }]);
  const { timeout } = parameters;
  const patience = timeout === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  const release = await holdStore(parameters.store, patience, () => emit?.([{ type: 'waiting' }]));
  try {
    const compiling = compile(parameters.wasmUrl, signal).catch((error: unknown) => {
      if (signal.aborted) throw stopped(signal);
      throw new GantryError({
        code: 'WASM_UNAVAILABLE',
        message: `The wasm module could not be loaded: ${error instanceof Error ? error.message : error}`,
        hint: 'Check that wasm/gantry_bg.wasm of the package is served, or give its address as `wasmUrl`.',
      });
    });
    // Why it failed is told where it is awaited, which may be later.
    compiling.catch(() => {});
    const { registry, store: name, scopes, token, tokens, replaceRegistryHost } = parameters;
    const pool = new Pool(compiling, name, parameters.workers ?? defaultPoolSize());
    // Where nothing is stored an install is near, and it will have something to unpack: the workers start while the module is
    // on its way.
    if (!(await hasStore(name))) pool.warm();
    await instantiate(await compiling);
    const options = {
      registry,
      ...(scopes && { scopes }),
      ...(token && { token }),
      ...(tokens && { tokens }),
      ...(replaceRegistryHost && { replaceRegistryHost }),
      ...patienceOf(parameters),
    };
    const coordinator = await whileHeld(async () => Coordinator.open(options, pool, await openStoreFolder(name)));
    // So it is where a store has no project any more.
    if (coordinator.projects().length === 0) pool.warm();
    store = { name, coordinator, pool, archives: new Archives(), release };
    tidyInTurn();
  } catch (error) {
    release();
    throw error;
  }
}

/** Why a call that was told to stop did. */
function stopped(signal: AbortSignal): GantryError {
  const { reason } = signal;
  return reason instanceof GantryError
    ? reason
    : new GantryError({ code: 'ABORTED', message: 'The operation was aborted' });
}

async function install(
  request: Parameters<'install'>,
  signal: AbortSignal,
  emit: Call<'install'>['emit'],
): Promise<Result<'install'>> {
  const batch = emit && new EventBatch(emit);
  try {
    return await withPool(signal, async ({ name, coordinator, pool }) => {
      const installed = await coordinator.install(request, batch && ((event) => batch.add(event)), signal);
      announceChanges(name, installed);
      // For the next one: starting takes some 50 ms of it otherwise.
      pool.warm();
      tidyInTurn();
      return installed;
    });
  } finally {
    batch?.flush();
  }
}

function explain(request: Parameters<'explain'>, signal: AbortSignal): Promise<Result<'explain'>> {
  return withPool(signal, async ({ coordinator }) => JSON.parse(await coordinator.conflicts(request, signal)));
}

/** Does what may give jobs to unpack workers. */
async function withPool<T>(signal: AbortSignal, work: (open: OpenStore) => Promise<T>): Promise<T> {
  const open = await present();
  const { coordinator, pool } = open;
  const abortJobs = () => pool.abort();
  signal.addEventListener('abort', abortJobs);
  try {
    return await work(open);
  } catch (error) {
    if (!(await coordinator.isThere().catch(() => true))) return lost(opened());
    // What failed leaves jobs behind: end them, and let go of the packs, before the next one begins.
    pool.abort();
    await pool.close().catch(() => {});
    throw signal.aborted ? stopped(signal) : error;
  } finally {
    signal.removeEventListener('abort', abortJobs);
  }
}

async function verify(signal: AbortSignal): Promise<Result<'verify'>> {
  try {
    return await (await present()).coordinator.verify(signal);
  } catch (error) {
    throw signal.aborted ? stopped(signal) : error;
  }
}

async function removeProject(name: string): Promise<Result<'removeProject'>> {
  const { name: store, coordinator } = await present();
  const changes = coordinator.removeProject(name);
  if (changes) announceChanges(store, { name, changes });
  tidyInTurn();
  return changes !== undefined;
}

async function prune(): Promise<Result<'prune'>> {
  const { name, coordinator } = await present();
  return withoutReaders(name, () => betweenReads(() => coordinator.prune()));
}

/** Runs `change` when all reads are answered; those to come wait for it. */
async function betweenReads<T>(change: () => Promise<T>): Promise<T> {
  const turn = Promise.allSettled(reads).then(change);
  moving = turn.catch(() => {});
  try {
    return await turn;
  } finally {
    moving = undefined;
  }
}

/** After what is under way: writes the journal anew where that is mostly of the past, which nobody waits for. */
function tidyInTurn(): void {
  const tidy = async () => {
    const coordinator = store?.coordinator;
    if (!coordinator?.hasLongPast() || !(await coordinator.isThere())) return;
    await betweenReads(() => coordinator.forgetPast());
  };
  // What fails now is tried again after the next change, and the journal stays what it is.
  lastChange = lastChange.then(tidy, tidy).catch(() => {});
}

async function clear(): Promise<undefined> {
  const { name, coordinator, archives } = await present();
  await withoutReaders(name, () =>
    // Reads that were asked for before it are answered; later ones wait, and find nothing.
    betweenReads(async () => {
      await archives.endAll();
      const removals = coordinator.removals();
      await coordinator.clear();
      for (const removal of removals) announceChanges(name, removal);
    }),
  );
}

async function close(): Promise<undefined> {
  const { coordinator, pool, archives, release } = opened();
  store = undefined;
  // The module cannot be closed while it answers.
  await Promise.allSettled(reads);
  await archives.endAll();
  if (await coordinator.isThere().catch(() => true)) {
    await pool.close();
    await coordinator.close();
  }
  release();
}

function opened(): OpenStore {
  if (!store) throw new GantryError({ code: 'CLOSED', message: 'This store is not open' });
  return store;
}

/** The open store, if its files are there. */
async function present(): Promise<OpenStore> {
  const open = opened();
  // Where a removal failed halfway nothing is open, which `clear` can mend.
  const isThere = await open.coordinator.isThere().catch(() => true);
  return isThere ? open : lost(open);
}

/**
 * The browser, or its user, has removed the store's files: what is written into them is nowhere. The page ends this worker,
 * which must not close them: in Chromium (156, files on disk) that never returns.
 */
function lost({ name, coordinator }: OpenStore): Promise<never> {
  for (const removal of coordinator.removals()) announceChanges(name, removal);
  post({
    fatal: {
      code: 'STORE_LOST',
      message: 'The storage of this site was cleared while the store was open',
      hint: 'Reload the page, and install again.',
    },
  });
  return new Promise(() => {});
}

/** Run `change` after those before it. While it waits for them, `signal` makes it reject at once and never run. */
function inTurn<T>(signal: AbortSignal, change: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(stopped(signal));
    signal.addEventListener('abort', giveUp);
    const begin = () => {
      signal.removeEventListener('abort', giveUp);
      return signal.aborted ? Promise.reject(stopped(signal)) : change();
    };
    const turn = lastChange.then(begin, begin);
    lastChange = turn;
    turn.then(resolve, reject);
  });
}

/** The store is being closed: nothing that would change it is waited for. */
function abortChanges(): void {
  const reason = new GantryError({ code: 'CLOSED', message: 'This store has been closed' });
  for (const { method, controller } of aborts.values()) {
    if (IN_TURN.has(method) && method !== 'close') controller.abort(reason);
  }
}
