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

function channelName(store: string): string {
  return `gantry-changes:${store}`;
}

/** In the coordinator, after an install, and once a project is forgotten or gone with the whole store. */
export function announceChanges(store: string, { name, changes }: Pick<InstalledProject, 'name' | 'changes'>): void {
  const { added, removed, replaced } = changes;
  if (added.length + removed.length + replaced.length === 0) return;
  const channel = new BroadcastChannel(channelName(store));
  channel.postMessage({ project: name, ...changes } satisfies ProjectChange);
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
  channel.onmessage = ({ data }: MessageEvent<ProjectChange>) => {
    if (data.project === project) listener(data);
  };
  return () => channel.close();
}
