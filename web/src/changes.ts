/**
 * Telling everybody who watches a project what an install has changed: in this tab, in its workers and in other tabs of the
 * origin. An install that changes nothing says nothing.
 */
import type { InstalledProject, PackageChanges } from './protocol.js';

/** What an install, or its removal, changed in one project. */
export interface ProjectChange extends PackageChanges {
  project: string;
}

/** Called after the new tree is there. */
export type ChangeListener = (change: ProjectChange) => void;

/** What goes through the channel. */
interface Announcement {
  /** When it was made, in milliseconds since 1970, on the clock that all of the origin's pages and workers share. */
  at: number;
  change: ProjectChange;
}

const now = () => performance.timeOrigin + performance.now();

function channelName(store: string): string {
  return `gantry-changes:${store}`;
}

/** In the coordinator, after an install, and once a project is forgotten or gone with the whole store. */
export function announceChanges(store: string, { name, changes }: Pick<InstalledProject, 'name' | 'changes'>): void {
  const { added, removed, replaced } = changes;
  if (added.length + removed.length + replaced.length === 0) return;
  const channel = new BroadcastChannel(channelName(store));
  channel.postMessage({ at: now(), change: { project: name, ...changes } } satisfies Announcement);
  channel.close();
}

/**
 * Call `listener` after each install, of whatever tab or worker, that changes a project, and when it is removed, alone or
 * with the whole store. It needs no open store. Returns what ends it.
 */
export function watchProject(
  listener: ChangeListener,
  { store = 'gantry', project = 'default' }: { store?: string; project?: string } = {},
): () => void {
  const channel = new BroadcastChannel(channelName(store));
  // An install's answer may be here before its announcement has come round: whoever watches from then on knows of it.
  const since = now();
  channel.onmessage = ({ data: { at, change } }: MessageEvent<Announcement>) => {
    if (change.project === project && at > since) listener(change);
  };
  return () => channel.close();
}
