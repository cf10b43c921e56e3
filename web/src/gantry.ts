/**
 * The page's handle on one store. `Gantry.open` starts the workers; `close` ends them.
 *
 * One coordinator writes a store at a time, over all tabs of the origin, and leaves it to another one that asks for it when
 * nothing is under way. Meanwhile it reads. `open` begins with such a turn: it waits for what is under way elsewhere, tells so
 * through `onWaiting`, and gives up with `STORE_BUSY` on `timeout` or `signal`. Later calls that change something need a turn,
 * too, and have a `signal` and an event, or `onWaiting`; those that only ask are answered beside what is under way elsewhere.
 */
import { untilActivated } from './activated.js';
import {
  checkOpen,
  checkRemove,
  type InstallOptions,
  type OpenOptions,
  type OutdatedOptions,
  type RemoveOptions,
  type TurnOptions,
} from './call-options.js';
import { type CallOptions, Connection } from './connection.js';
import { GantryError } from './errors.js';
import type { OutdatedDependency, PeerConflict } from './explanations.js';
import { DEFAULT_PROJECT, installParameters, outdatedParameters } from './install-parameters.js';
import { hold, uniqueLifeName } from './liveness.js';
import { openParameters, requireOpfs } from './open-parameters.js';
import { requireSecureContext } from './origin-storage.js';
import { Project } from './project.js';
import type { OpenParameters, Pruning, StorageKind, StoreUsage, Verification } from './protocol.js';
import { removeStore } from './remove-store.js';
import { startWorker } from './start-worker.js';
import { checkedStore } from './store-name.js';
import { TRUSTED_POLICY } from './trusted-address.js';

/** Milliseconds. A time-out for other tabs may be shorter than it takes to fetch the worker's scripts over a slow network. */
const LEAST_START = 10_000;
/** Without one: a worker that the browser ends before it has said anything is missed by nobody. */
const START = 60_000;

export class Gantry {
  /** The registry that is asked, absolute. */
  readonly registry: string;
  readonly store: string;
  /** Where the store is. */
  readonly storage: StorageKind;
  readonly #connection: Connection;
  /** What nobody else calls another store. */
  readonly #place: string;

  private constructor(connection: Connection, { registry, storage, store: place }: OpenParameters, store: string) {
    this.#connection = connection;
    this.registry = registry;
    this.store = store;
    this.storage = storage;
    this.#place = place;
  }

  /** Start the workers and open the store, creating it if need be. */
  static async open(options: OpenOptions): Promise<Gantry> {
    checkOpen(options);
    const parameters = openParameters(options);
    const { store, timeout, signal } = options;
    await untilActivated(signal);
    const connection = new Connection(startCoordinator());
    const started = new AbortController();
    connection.limitStart(started.signal, signal, timeout === undefined ? START : Math.max(timeout, LEAST_START));
    // Where there are no locks the worker has none either.
    const pageLock = uniqueLifeName('page');
    const release = await hold(pageLock).catch(() => undefined);
    if (release) parameters.pageLock = pageLock;
    try {
      const { mark } = await connection.call('open', parameters, {
        signal,
        onEvent: (event) => {
          if (event.type === 'waiting') options.onWaiting?.();
          else {
            started.abort();
            connection.watch(parameters.aliveLock, event.isApart);
          }
        },
      });
      if (mark !== undefined) connection.watchFiles(checkedStore(store), mark);
    } catch (error) {
      connection.close();
      throw error;
    } finally {
      release?.();
    }
    return new Gantry(connection, parameters, checkedStore(store));
  }

  /**
   * Remove a store that is not open: packages, projects and cached metadata. Works also for one that `open` refuses, because
   * it is damaged (`STORE_CORRUPT`) or of another version (`STORE_FORMAT`). Whether there was one. Waits for a tab that has it
   * open, up to `timeout` milliseconds (`STORE_BUSY`) and until `signal` fires (`ABORTED`); fails with `STORE_LOCKED`, and
   * removes nothing, while a worker reads a project of it through `gantry/sync`. Who watches its projects is not told: it may
   * be unknown what they were. A store in memory has no name by which it could be removed: to close it is enough.
   */
  static async remove(options: RemoveOptions = {}): Promise<boolean> {
    checkRemove(options);
    requireOpfs(options);
    const store = checkedStore(options.store);
    requireSecureContext();
    await untilActivated(options.signal);
    return removeStore(store, options);
  }

  /**
   * Resolve, download, verify and unpack; on return the tree is readable and durable. Installs of one store queue, in all tabs;
   * an event of type `waiting` tells of one that waits for another tab, which `signal` ends. Fails with `STORE_LOST`, as
   * everything does from then on, where the browser or its user has cleared this site's storage: reload the page then. A store
   * in memory loses what an unpack worker had that ended: that, too, is `STORE_LOST`, and installing again mends it.
   */
  async install(options: InstallOptions): Promise<Project> {
    const parameters = installParameters('install', options);
    const { onEvent, signal } = options;
    const installed = await this.#connection.call('install', parameters, { onEvent, signal });
    return new Project(this.#connection, this.#place, installed);
  }

  /**
   * The peer conflicts that an install with these options has: those that it accepts, and last the one that stops it, with the
   * changes that would each end that. Resolves as an install does; neither tree nor lock changes. Waits for installs under way;
   * of events there is the one of type `waiting`.
   */
  async explain(options: InstallOptions): Promise<PeerConflict[]> {
    const parameters = installParameters('explain', options);
    const { onEvent, signal } = options;
    return this.#connection.call('explain', parameters, { onEvent, signal });
  }

  /**
   * Of which packages of a project's tree the registry has newer versions: what `npm outdated` tells, sorted by name and who asks.
   * `packageJson` says what is asked for, and what is installed is as the project's last install left it. Registries are asked
   * anew, unless `preferOffline` or `offline` is set. What they do not have, or not in the version that is asked for, is left out,
   * as with npm. Waits for installs under way; of events there is the one of type `waiting`.
   */
  async outdated(options: OutdatedOptions): Promise<OutdatedDependency[]> {
    const parameters = outdatedParameters(options);
    const { onEvent, signal } = options;
    return this.#connection.call('outdated', parameters, { onEvent, signal });
  }

  /**
   * A project as an earlier install left it, or `undefined`. One of which a damaged package has left the store is
   * `LAYOUT_MISSING`, with the package, until it is installed again: without `lockfile` that keeps to the lock that it has.
   */
  async project(name: string = DEFAULT_PROJECT): Promise<Project | undefined> {
    const data = await this.#connection.call('project', { name });
    return data && new Project(this.#connection, this.#place, data);
  }

  usage(): Promise<StoreUsage> {
    return this.#connection.call('usage', undefined);
  }

  /**
   * Read everything that is stored and compare checksums. Damaged packages leave the store: the next install of a project
   * that needs them fetches them anew. Waits for installs under way. `signal` ends it at any time.
   */
  verify(options: TurnOptions = {}): Promise<Verification> {
    return this.#connection.call('verify', undefined, turn(options));
  }

  /** Names of the projects of this store, sorted, also of those that {@link verify} says have to be installed again. */
  projects(): Promise<string[]> {
    return this.#connection.call('projects', undefined);
  }

  /**
   * Forget a project; whether there was one. What only it needed stays in the store until `prune`. Waits for installs under
   * way.
   */
  removeProject(name: string = DEFAULT_PROJECT, options: TurnOptions = {}): Promise<boolean> {
    return this.#connection.call('removeProject', { name }, turn(options));
  }

  /**
   * Remove what no project of this store needs, and give the space back. Waits for installs under way; reads wait for it.
   * Fails with `STORE_LOCKED`, and removes nothing, while a worker reads a project of it through `gantry/sync`, or another tab an
   * archive (`gantry/export`); on any other failure, such as no room for what has to be moved, the store is what it was.
   */
  prune(options: TurnOptions = {}): Promise<Pruning> {
    return this.#connection.call('prune', undefined, turn(options));
  }

  /**
   * Remove everything in this store: packages, projects and cached metadata. Who watches a project is told. Fails with
   * `STORE_LOCKED`, and removes nothing, where `prune` does.
   */
  clear(options: TurnOptions = {}): Promise<void> {
    return this.#connection.call('clear', undefined, turn(options));
  }

  /** Ask the browser to keep this origin's storage under pressure. Whether it will; it never keeps a store in memory. */
  async persist(): Promise<boolean> {
    if (this.storage !== 'opfs') return false;
    // Only pages can ask.
    if (navigator.storage.persist) return navigator.storage.persist();
    throw new GantryError({
      code: 'STORAGE_UNAVAILABLE',
      message: 'A worker cannot ask the browser to keep storage',
      hint: 'Call navigator.storage.persist() on a page of this origin.',
    });
  }

  /** Let go of the store and end the workers. Installs under way are given up: they reject with `CLOSED`. */
  async close(): Promise<void> {
    try {
      await this.#connection.call('close', undefined);
    } catch (error) {
      // A worker that is gone has nothing left to close.
      if (!(error instanceof GantryError && ['CLOSED', 'STORE_LOST', 'WORKER_LOST'].includes(error.code))) throw error;
    } finally {
      this.#connection.close();
    }
  }
}

function turn({ signal, onWaiting }: TurnOptions): CallOptions<'verify' | 'removeProject' | 'prune' | 'clear'> {
  return { signal, onEvent: onWaiting && (() => onWaiting()) };
}

function startCoordinator(): Worker {
  if (!('Worker' in globalThis)) {
    const message = 'No workers can be started here, as in a service worker, or a shared worker of Chromium';
    throw new GantryError({ code: 'WORKER_LOST', message, hint: 'Call Gantry.open in a page or a dedicated worker.' });
  }
  try {
    return startWorker(
      () => new Worker(new URL('./worker/coordinator.js', import.meta.url), { type: 'module', name: 'gantry' }),
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The browser refuses to start the install worker: ${reason}`;
    const hint = `Check the Content-Security-Policy of the page: worker-src, script-src, and if it has trusted-types, that "${TRUSTED_POLICY}" is among them.`;
    throw new GantryError({ code: 'WORKER_LOST', message, hint }, { cause });
  }
}
