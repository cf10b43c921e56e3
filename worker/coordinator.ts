/**
 * Coordinator worker: has one store open. Loads the wasm module, starts the unpack workers and serves the page's calls.
 *
 * Reads are answered while an install runs, here or in another tab. Installs and `clear` change the tree, so they go one after
 * the other. Between them other tabs get the store, if they ask for it.
 */
import { Archives } from '../archives.js';
import type { WaitingEvent } from '../call-events.js';
import { announceChanges } from '../changes.js';
import { STORAGE_CLEARED } from '../cleared.js';
import { GantryError, toErrorData } from '../errors.js';
import { holdForLife, isHeld } from '../liveness.js';
import type { Method, Methods, OpenParameters, Parameters, Request, Response, Result } from '../protocol.js';
import type { Reading } from '../readers.js';
import { holdOpen } from '../store-lock.js';
import { unlessAborted } from '../unless-aborted.js';
import { instantiate, type WasmCoordinator } from '../wasm.js';
import { buffersOf } from './buffers.js';
import { EventBatch } from './events.js';
import type { OpenStore } from './open-store.js';
import { compileModule, coordinatorOptions, openInMemory } from './opening.js';
import { defaultPoolSize, Pool } from './pool.js';
import { SharedStore } from './shared-store.js';
import { stopped } from './stopped.js';
import { hasStore, requireStorage } from './storage.js';
import { reportTraps } from './traps.js';
import { Turns } from './turns.js';
import { UnpackWorker } from './unpack-worker.js';

interface Call<M extends Method> {
  signal: AbortSignal;
  /** Missing where nobody listens. */
  emit: ((events: Methods[M]['event'][]) => void) | undefined;
}

/** One that may have to wait for other tabs. */
interface WaitingCall {
  signal: AbortSignal;
  emit: ((events: WaitingEvent[]) => void) | undefined;
}

type Handlers = { [M in Method]: (parameters: Parameters<M>, call: Call<M>) => Promise<Result<M>> | Result<M> };

/** The store while this tab has it to write in. */
interface HeldStore {
  store: OpenStore;
  coordinator: WasmCoordinator;
}

const scope = self as unknown as DedicatedWorkerGlobalScope;
const aborts = new Map<number, { method: Method; controller: AbortController }>();
/** These go one after the other, and so are never under way beside a close. */
const IN_TURN: ReadonlySet<Method> = new Set([
  'open',
  'install',
  'explain',
  'outdated',
  'verify',
  'removeProject',
  'prune',
  'clear',
  'close',
]);
/** Before each change it is other tabs' turn, if they ask for one. */
const turns = new Turns(async () => {
  if (store?.shouldLetGo) await letGo();
});
let store: OpenStore | undefined;
/** Milliseconds for which nobody sees the page before an idle store is left to others: the browser may freeze it. */
const HIDDEN_MILLISECONDS = 10_000;
let hiding: ReturnType<typeof setInterval> | undefined;

const handlers: Handlers = {
  open,
  install: (request, { signal, emit }) => turns.take(signal, () => install(request, signal, emit)),
  explain: (request, call) => turns.take(call.signal, () => explain(request, call)),
  outdated: (query, call) => turns.take(call.signal, () => outdated(query, call)),
  project: ({ name }) => read((source) => source.project(name)),
  why: async ({ project, query }) => JSON.parse(await read((source) => source.why(project, query))),
  readFile: ({ project, path }) => read((source) => source.readFile(project, path)),
  readMany: ({ project, paths }) => read((source) => source.readMany(project, paths)),
  readdir: ({ project, path, recursive }) => read((source) => source.readdir(project, path, recursive)),
  stat: ({ project, path }) => read((source) => source.stat(project, path)),
  lstat: ({ project, path }) => read((source) => source.lstat(project, path)),
  readlink: ({ project, path }) => read((source) => source.readlink(project, path)),
  realpath: ({ project, path }) => read((source) => source.realpath(project, path)),
  locate: ({ project, path }) => read((source) => source.locate(project, path)),
  readRanges: ({ project, keys, offsets, sizes }) => read((source) => source.readRanges(keys, offsets, sizes, project)),
  listing: ({ project }) => read((source) => source.listing(project)),
  archive: async ({ project, format }) =>
    opened().archives.begin(await read((source) => source.archive(project, format))),
  archivePart: ({ archive }) => archivePart(opened(), archive),
  endArchive: ({ archive }) => opened().archives.end(archive),
  treeDigest: ({ project }) => read((source) => source.treeDigest(project)),
  usage: async () => ({ ...(await read((source) => source.usage())), ...(await opened().granted()) }),
  verify: (_, call) => turns.take(call.signal, () => verify(call)),
  projects: () => read((source) => source.projects()),
  removeProject: ({ name }, call) => turns.take(call.signal, () => removeProject(name, call)),
  prune: (_, call) => turns.take(call.signal, () => prune(call)),
  clear: (_, call) => turns.take(call.signal, () => clear(call)),
  close: (_, { signal }) => {
    abortChanges();
    return turns.take(signal, close);
  },
};

const isTrap = reportTraps((fatal) => post({ fatal }));
scope.addEventListener('message', (message: MessageEvent<Request>) => void receive(message.data));

async function receive(request: Request): Promise<void> {
  if ('abort' in request) {
    aborts.get(request.abort)?.controller.abort();
    return;
  }
  if ('hidden' in request) {
    clearInterval(hiding);
    if (request.hidden) hiding = setInterval(rest, HIDDEN_MILLISECONDS);
    return;
  }
  if ('changed' in request) {
    store?.noteChange(request.changed);
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
    const emit = listens ? (events: unknown[]) => post({ id, events }) : undefined;
    const answer = () => handler(parameters, { signal: controller.signal, emit });
    const result = await (IN_TURN.has(method) ? answer() : turns.read(answer));
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

async function open(parameters: OpenParameters, { signal, emit }: Call<'open'>): Promise<Result<'open'>> {
  const isInMemory = parameters.storage === 'memory';
  if (!isInMemory) await requireStorage();
  const { aliveLock, pageLock } = parameters;
  await holdForLife(aliveLock);
  // Asked here: the page itself could not tell a lock that is out of its sight from one of a worker that has died since.
  const isApart = pageLock !== undefined && !(await isHeld(pageLock).catch(() => true));
  emit?.([{ type: 'alive', isApart }]);
  store = await (isInMemory ? openInMemory(parameters, signal) : openShared(parameters, signal, emit));
  // Where there is no project any more an install is near.
  if (store.coordinator?.projects().length === 0) store.pool.warm();
  tidyAfterwards();
  return { mark: store.mark };
}

async function openShared(
  parameters: OpenParameters,
  signal: AbortSignal,
  emit: Call<'open'>['emit'],
): Promise<OpenStore> {
  const { timeout, store: name, workers = defaultPoolSize() } = parameters;
  const patience = timeout === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  let isWaiting = false;
  const onWaiting = () => {
    if (!isWaiting) emit?.([{ type: 'waiting' }]);
    isWaiting = true;
  };
  const releaseOpen = await holdOpen(name, patience, onWaiting);
  const compiling = compileModule(parameters, signal);
  const pool = new Pool(compiling, name, workers);
  const wanted = () => letGoAfterwards(() => opening.shouldLetGo);
  const opening = new SharedStore(name, coordinatorOptions(parameters), {
    pool,
    archives: new Archives(),
    releaseOpen,
    wanted,
    lost: tellLost,
  });
  try {
    await opening.begin(patience, onWaiting, async () => {
      // Where nothing is stored an install is near, and it will have something to unpack: the workers start while the module
      // is on its way.
      if (!(await hasStore(name))) pool.warm();
      await instantiate(await compiling);
    });
    return opening;
  } catch (error) {
    opening.stopWaiting();
    await opening.close(true);
    throw error;
  }
}

async function install(
  request: Parameters<'install'>,
  signal: AbortSignal,
  emit: Call<'install'>['emit'],
): Promise<Result<'install'>> {
  const batch = emit && new EventBatch(emit);
  try {
    return await withPool({ signal, emit }, async ({ store, coordinator }) => {
      await store.dropDamaged(coordinator);
      const installed = await coordinator.install(request, batch && ((event) => batch.add(event)), signal);
      if (installed.hasChanged) announceChanges(store.name, installed);
      // For the next one: starting takes some 50 ms of it otherwise.
      store.pool.warm();
      tidyAfterwards();
      return installed;
    });
  } finally {
    batch?.flush();
  }
}

function explain(request: Parameters<'explain'>, call: Call<'explain'>): Promise<Result<'explain'>> {
  return withPool(call, async ({ coordinator }) => JSON.parse(await coordinator.conflicts(request, call.signal)));
}

function outdated(
  { request, packages, all }: Parameters<'outdated'>,
  call: Call<'outdated'>,
): Promise<Result<'outdated'>> {
  const { signal } = call;
  return whilePresent(call, async ({ coordinator }) => {
    try {
      return JSON.parse(await coordinator.outdated(request, packages, all, signal));
    } catch (error) {
      throw signal.aborted ? stopped(signal) : error;
    }
  });
}

/** Does what may give jobs to unpack workers. */
async function withPool<T>(call: WaitingCall, work: (held: HeldStore) => Promise<T>): Promise<T> {
  const { signal } = call;
  const held = await present(call);
  const { coordinator, store } = held;
  const { pool } = store;
  const abortJobs = () => pool.abort();
  signal.addEventListener('abort', abortJobs);
  try {
    return await work(held);
  } catch (error) {
    if (!(await coordinator.isThere().catch(() => true))) return lost(held);
    // What failed leaves jobs behind: end them, and let go of the packs, before the next one begins.
    pool.abort();
    await pool.close().catch(() => {});
    throw signal.aborted ? stopped(signal) : error;
  } finally {
    signal.removeEventListener('abort', abortJobs);
  }
}

async function verify(call: Call<'verify'>): Promise<Result<'verify'>> {
  const { signal } = call;
  return whilePresent(call, async ({ coordinator }) => {
    try {
      return await coordinator.verify(signal);
    } catch (error) {
      throw signal.aborted ? stopped(signal) : error;
    }
  });
}

async function removeProject(name: string, call: Call<'removeProject'>): Promise<Result<'removeProject'>> {
  return whilePresent(call, async ({ store, coordinator }) => {
    const changes = coordinator.removeProject(name);
    if (changes) announceChanges(store.name, { name, changes });
    tidyAfterwards();
    return changes !== undefined;
  });
}

async function prune(call: Call<'prune'>): Promise<Result<'prune'>> {
  return whilePresent(call, ({ store, coordinator }) => alone(store, () => coordinator.prune()));
}

/** Runs `change` when nobody reads the store, here or elsewhere. */
async function alone<T>(store: OpenStore, change: () => Promise<T>): Promise<T> {
  // Those that began while another tab had the store may have to open its files once more, and would wait for this.
  await turns.readsEnded();
  return store.withoutReaders(() => turns.betweenReads(change));
}

/** After what is under way: writes the journal anew where that is mostly of the past, which nobody waits for. */
function tidyAfterwards(): void {
  // What fails now is tried again after the next change, and the journal stays what it is.
  turns.afterwards(async () => {
    const coordinator = store?.coordinator;
    if (!coordinator?.hasLongPast() || !(await coordinator.isThere())) return;
    await turns.betweenReads(() => coordinator.forgetPast());
  });
}

async function clear(call: Call<'clear'>): Promise<undefined> {
  return whilePresent(call, ({ store, coordinator }) =>
    // Reads that were asked for before it are answered; later ones wait, and find nothing.
    alone(store, async () => {
      await store.archives.endAll();
      const removals = coordinator.removals();
      await coordinator.clear();
      for (const removal of removals) announceChanges(store.name, removal);
      return undefined;
    }),
  );
}

/** Leaves all there is to others: a page that nobody sees may be frozen, and would keep it. */
function rest(): void {
  letGoAfterwards(() => true);
  store?.stopReading();
}

/** Leaves the store to other tabs after what is under way, if `should` says so then: nobody here waits for it. */
function letGoAfterwards(should: () => boolean): void {
  turns.afterwards(async () => {
    if (should()) await letGo();
  });
}

async function letGo(): Promise<void> {
  const open = store;
  if (!open?.coordinator) return;
  const held = { store: open, coordinator: open.coordinator };
  if (!(await isThere(held))) return lost(held);
  await turns.betweenReads(() => open.letGo());
}

async function close(): Promise<undefined> {
  const closing = opened();
  store = undefined;
  clearInterval(hiding);
  closing.stopWaiting();
  // The module cannot be closed while it answers.
  await turns.readsEnded();
  await closing.archives.endAll();
  const { coordinator } = closing;
  await closing.close(!coordinator || (await isThere({ store: closing, coordinator })));
}

function opened(): OpenStore {
  if (!store) throw new GantryError({ code: 'CLOSED', message: 'This store is not open' });
  return store;
}

/** Whoever can answer now is asked. */
function read<T>(question: (source: Reading) => T | Promise<T>): Promise<T> {
  return opened().read(question);
}

function archivePart(store: OpenStore, archive: number): Promise<Result<'archivePart'>> {
  return store.archives.part(archive, (parts) => store.attach(parts));
}

/** Does what fails as a loss where storage was cleared meanwhile. */
async function whilePresent<T>(call: WaitingCall, work: (held: HeldStore) => Promise<T>): Promise<T> {
  const held = await present(call);
  try {
    return await work(held);
  } catch (error) {
    if (!(await isThere(held))) return lost(held);
    throw error;
  }
}

/** The store, if its files are there, after other tabs' turn. */
async function present({ signal, emit }: WaitingCall): Promise<HeldStore> {
  const store = opened();
  const take = () => store.take(() => emit?.([{ type: 'waiting' }]));
  const held = { store, coordinator: await unlessAborted(signal, stopped, take) };
  return (await isThere(held)) ? held : lost(held);
}

function isThere({ coordinator }: HeldStore): Promise<boolean> {
  // Where a removal failed halfway nothing is open, which `clear` can mend.
  return coordinator.isThere().catch(() => true);
}

/**
 * The browser, or its user, has removed the store's files: what is written into them is nowhere. The page ends this worker,
 * which must not close them: in Chromium (156, files on disk) that never returns.
 */
function lost({ store, coordinator }: HeldStore): Promise<never> {
  for (const removal of coordinator.removals()) announceChanges(store.name, removal);
  return tellLost();
}

function tellLost(): Promise<never> {
  post({ fatal: STORAGE_CLEARED });
  return new Promise(() => {});
}

/** The store is being closed: nothing that would change it is waited for. */
function abortChanges(): void {
  const reason = new GantryError({ code: 'CLOSED', message: 'This store has been closed' });
  for (const { method, controller } of aborts.values()) {
    if (IN_TURN.has(method) && method !== 'close') controller.abort(reason);
  }
}
