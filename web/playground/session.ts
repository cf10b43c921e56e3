/**
 * Installing into the store, and what the page shows of that.
 *
 * Events arrive faster than a screen shows them; they are kept aside and taken over once a frame.
 */
import { computed, effect, signal } from '@preact/signals';
import { Gantry, type InstallEvent, type Project, type StoreUsage, watchProject } from 'gantry';
import { type Failure, toFailure } from './failure.js';
import { isLost, reconfigure, store, withStore } from './open-store.js';
import { MANIFEST, SETTINGS } from './starters.js';
import { files, starter } from './workspace.js';

/** `waiting`: for another tab. */
export type Phase = 'waiting' | 'resolve' | 'fetch' | 'link' | 'lock';
export type Progress = Omit<Extract<InstallEvent, { type: 'progress' }>, 'type'>;

export type Installation =
  | { state: 'idle' }
  | { state: 'running' | 'cancelling'; phase: Phase | undefined; progress: Progress; began: number }
  /** All that is stored is being removed, after another tab's turn where it is waiting for one. */
  | { state: 'clearing'; isWaiting: boolean }
  /** `by`: what made the tree that is shown. */
  | { state: 'done'; progress: Progress; by: 'install' | 'earlier visit' | 'other tab' }
  | { state: 'cancelled' }
  | { state: 'failed'; failure: Failure };

const nothing: Progress = {
  resolved: 0,
  wanted: 0,
  downloaded: 0,
  unpacked: 0,
  reused: 0,
  bytes: 0,
  requests: 0,
  elapsed: 0,
};

export const installation = signal<Installation>({ state: 'idle' });
export const warnings = signal<readonly { code: string; message: string }[]>([]);
export const project = signal<Project | undefined>(undefined);
export const usage = signal<StoreUsage | undefined>(undefined);

/** How many installs of this page have succeeded. */
export const installs = signal(0);

export const running = computed(() => ['running', 'cancelling', 'clearing'].includes(installation.value.state));

let cancelling: AbortController | undefined;
/** Whether the next install is to resolve anew, whatever lock the store has of this project. */
let discarded = false;

/** Whether another tab has changed this project while this one was at work. */
let isOutdated = false;

/** Counts what replaces the tree that is shown: what was begun before it has nothing to show any more. */
let generation = 0;

/** What an earlier visit left behind, shown at once. */
export async function restore(): Promise<void> {
  generation++;
  discarded = false;
  installation.value = { state: 'idle' };
  warnings.value = [];
  project.value = undefined;
  const earlier = await adoptRecorded();
  if (!earlier) return;
  installation.value = { state: 'done', progress: totals(earlier), by: 'earlier visit' };
}

/** Shows this project as other tabs make it. */
export function followOtherTabs(): void {
  effect(() => {
    const { id } = starter.value;
    const shown = project.value;
    const adopt = () => void adoptChange();
    return shown ? shown.onDidChange(adopt) : watchProject(adopt, { project: id });
  });
}

async function adoptChange(): Promise<void> {
  // What this tab does ends with a tree of its own, or looks again.
  isOutdated = running.value;
  if (isOutdated) return;
  const mine = ++generation;
  await adoptRecorded();
  if (generation !== mine) {
    isOutdated = running.value;
    return;
  }
  const { state } = installation.value;
  if (state !== 'idle' && state !== 'done') return;
  const recorded = project.value;
  warnings.value = [];
  installation.value = recorded ? { state: 'done', progress: totals(recorded), by: 'other tab' } : { state: 'idle' };
}

/** Take what the store has recorded of this project as the tree to show. What goes wrong is shown as the store's. */
async function adoptRecorded(): Promise<Project | undefined> {
  const { id } = starter.value;
  const mine = generation;
  try {
    return await withStore(async (handle) => {
      const recorded = await handle.project(id);
      await showUsage(handle);
      if (generation !== mine) return undefined;
      project.value = recorded;
      return recorded;
    });
  } catch (error) {
    if (generation === mine && store.value.state !== 'failed') {
      store.value = { state: 'failed', failure: toFailure(error), wanted: 'read' };
    }
    return undefined;
  }
}

/** Beside the point of what was done: unknown where it cannot be told. */
async function showUsage(handle: Gantry): Promise<void> {
  usage.value = await handle.usage().catch(() => undefined);
}

export async function install(): Promise<void> {
  if (running.value) return;
  generation++;
  isOutdated = false;
  const id = starter.value.id;
  const abort = new AbortController();
  cancelling = abort;
  let phase: Phase | undefined;
  let progress = nothing;
  const collected: { code: string; message: string }[] = [];
  let frame = 0;
  const show = () => {
    frame = 0;
    const present = installation.value;
    if (present.state !== 'running' && present.state !== 'cancelling') return;
    installation.value = { ...present, phase, progress };
    if (warnings.value.length !== collected.length) warnings.value = [...collected];
  };
  const onEvent = (event: InstallEvent) => {
    if (event.type === 'phase') phase = event.phase;
    else if (event.type === 'waiting') phase = event.type;
    else if (event.type === 'progress') progress = event;
    else if (event.type === 'warning') collected.push(event);
    else return;
    frame ||= requestAnimationFrame(show);
  };
  installation.value = { state: 'running', phase, progress, began: performance.now() };
  warnings.value = [];
  let heard = false;
  const begin = (handle: Gantry) =>
    handle.install({
      project: id,
      packageJson: files.value.get(MANIFEST) ?? '{}',
      npmrc: files.value.get(SETTINGS) ?? '',
      // Else the one that the store has, which may not be shown yet.
      ...(discarded && { lockfile: null }),
      signal: abort.signal,
      onEvent: (event) => {
        heard ||= event.type !== 'waiting';
        onEvent(event);
      },
    });
  try {
    const installed = await withStore(
      async (handle) => {
        const result = await begin(handle);
        void showUsage(handle);
        return result;
      },
      { mayRetry: () => !heard, signal: abort.signal },
    );
    cancelAnimationFrame(frame);
    discarded = false;
    warnings.value = collected;
    store.value = { state: 'open' };
    project.value = installed;
    installs.value++;
    installation.value = { state: 'done', progress: { ...progress, ...totals(installed) }, by: 'install' };
  } catch (error) {
    cancelAnimationFrame(frame);
    installation.value = abort.signal.aborted ? { state: 'cancelled' } : { state: 'failed', failure: toFailure(error) };
    if (isOutdated) await adoptChange();
    // The tree that is shown was read through what is lost.
    else if (isLost(error)) await adoptRecorded();
  } finally {
    if (cancelling === abort) cancelling = undefined;
  }
}

export function cancel(): void {
  const present = installation.value;
  if (present.state === 'running') installation.value = { ...present, state: 'cancelling' };
  else if (present.state !== 'clearing') return;
  cancelling?.abort();
}

/** Remove everything this page has stored, also where that cannot be opened. */
export async function clearStore(): Promise<void> {
  if (running.value) return;
  const { value } = store;
  const before = installation.value;
  generation++;
  isOutdated = false;
  const abort = new AbortController();
  cancelling = abort;
  const { signal } = abort;
  const show = (isWaiting: boolean) => {
    installation.value = { state: 'clearing', isWaiting };
  };
  show(false);
  const options = { signal, onWaiting: () => show(true) };
  try {
    if (value.state === 'failed' && /^STORE_(CORRUPT|FORMAT)$/.test(value.failure.code)) await Gantry.remove(options);
    await withStore(
      async (handle) => {
        await handle.clear(options);
        await showUsage(handle);
      },
      { signal },
    );
    store.value = { state: 'open' };
    discarded = false;
    project.value = undefined;
    installation.value = { state: 'idle' };
    warnings.value = [];
  } catch (error) {
    installation.value = signal.aborted ? before : { state: 'failed', failure: toFailure(error) };
    if (isOutdated) await adoptChange();
    else if (isLost(error)) await adoptRecorded();
    // What the last visit left may not have been shown yet.
    else if (signal.aborted && before.state === 'idle' && !discarded) await restore();
  } finally {
    if (cancelling === abort) cancelling = undefined;
  }
}

/** Forget the lock, so that the next install resolves anew. */
export function discardLock(): void {
  generation++;
  discarded = true;
  project.value = undefined;
  installation.value = { state: 'idle' };
}

/** Take another registry or token: the store is opened again with it. */
export async function configure(settings: { registry: string; token: string }): Promise<void> {
  generation++;
  await reconfigure(settings);
  await restore();
}

function totals(installed: Project): Progress {
  return {
    resolved: installed.packages,
    wanted: installed.packages,
    downloaded: installed.packages - installed.reused,
    unpacked: installed.packages - installed.reused,
    reused: installed.reused,
    bytes: installed.bytes,
    requests: installed.requests,
    elapsed: installed.elapsed,
  };
}

/** Another starter has a tree of its own. */
export function followStarter(): void {
  let shown: string | undefined;
  effect(() => {
    const { id } = starter.value;
    if (id === shown) return;
    shown = id;
    queueMicrotask(() => void restore());
  });
}
