/**
 * Telling everybody who watches a project what an install has changed: in this tab, in its workers and in other tabs of the
 * origin. An install that changes nothing says nothing; one that changes the lock alone says so by naming no folder.
 */
import { type Checks, listener as checkListener, checkOptions, invalid, shown, text } from './options.js';
import type { InstalledProject, PackageChanges } from './protocol.js';
import { randomName } from './random-name.js';

/**
 * What an install, or its removal, changed in one project. Where no folder is named the packages are those of before: then
 * the lock file is another one, and with it maybe `node_modules/.package-lock.json`; or a project without any is there no more.
 */
export interface ProjectChange extends PackageChanges {
  project: string;
}

/** Whose changes are told of. */
export interface WatchOptions {
  /** The name of the store, as for `Gantry.open`. */
  store?: string;
  /** The name of the project, as for `install`. */
  project?: string;
}

const WATCH: Checks<WatchOptions> = { store: text, project: text };

/** Called after the new tree is there. */
export type ChangeListener = (change: ProjectChange) => void;

/** What goes through the channel. */
interface Announcement {
  id: string;
  change: ProjectChange;
}

/** An install's answer: it gets the id under which its changes are announced. */
type Announced = Pick<InstalledProject, 'name' | 'changes' | 'announcement'>;

/**
 * The last announcement of each project that this page or worker has had the answer of, by {@link channelName} and project.
 * The answer may be here before its announcement has come round: whoever begins to watch then knows of it. No clock tells
 * the two apart: pages and workers need not agree on one, and it may stand still while they sleep.
 */
const answered = new Map<string, string>();

function channelName(store: string): string {
  return `gantry-changes:${store}`;
}

function placeOf(store: string, project: string): string {
  return `${channelName(store)}/${project}`;
}

/** In the coordinator, after an install that changed something, and once a project is forgotten or gone with the whole store. */
export function announceChanges(store: string, installed: Announced): void {
  const { name, changes } = installed;
  const id = randomName();
  installed.announcement = id;
  const channel = new BroadcastChannel(channelName(store));
  channel.postMessage({ id, change: { project: name, ...changes } } satisfies Announcement);
  channel.close();
}

/** Where an answer has arrived: who begins to watch from now on is not told of it. */
export function noteAnswer(store: string, { name, announcement }: Announced): void {
  if (announcement !== undefined) answered.set(placeOf(store, name), announcement);
}

/** Call `listener` with each announcement of a store. Returns what ends it. */
function listen(store: string, listener: (announcement: Announcement) => void): () => void {
  const channel = new BroadcastChannel(channelName(store));
  channel.onmessage = ({ data }: MessageEvent<Announcement>) => listener(data);
  return () => channel.close();
}

/** Call `listener` with the name of each project that is changed or removed. Returns what ends it. */
export function watchStore(store: string, listener: (project: string) => void): () => void {
  return listen(store, ({ change }) => listener(change.project));
}

/**
 * Call `listener` after each install, of whatever tab or worker, that changes a project, and when it is removed, alone or
 * with the whole store. It needs no open store. Of what happened in the very moment in which it is called the listener may
 * be told or not, but where an install was made here and has resolved before, it is not told of that. Returns what ends it.
 */
export function watchProject(listener: ChangeListener, options: WatchOptions = {}): () => void {
  checkOptions('watchProject', options, WATCH);
  const problem = checkListener(listener);
  if (problem !== undefined) throw invalid(`listener: ${shown(listener)} ${problem}`);
  const { store = 'gantry', project = 'default' } = options;
  const known = answered.get(placeOf(store, project));
  return listen(store, ({ id, change }) => {
    if (change.project === project && id !== known) listener(change);
  });
}

/** Everybody who watches one project through an object of it, to be ended together with that. */
export class Watches {
  readonly #stops = new Set<() => void>();

  /** As {@link watchProject}. */
  add(listener: ChangeListener, place: Required<WatchOptions>): () => void {
    const stop = watchProject(listener, place);
    this.#stops.add(stop);
    return () => {
      this.#stops.delete(stop);
      stop();
    };
  }

  end(): void {
    for (const stop of this.#stops) stop();
    this.#stops.clear();
  }
}
