/**
 * The store behind the page: opening it, installing into it, and what the page shows of that.
 *
 * Events arrive faster than a screen shows them; they are kept aside and taken over once a frame.
 */
import { computed, effect, signal } from '@preact/signals';
import { Gantry, GantryError, type InstallEvent, type Project, type StoreUsage } from 'gantry';
import { remember, remembered } from './storage.js';
import { files, starter } from './workspace.js';

export type Phase = 'resolve' | 'fetch' | 'link' | 'lock';
export type Progress = Omit<Extract<InstallEvent, { type: 'progress' }>, 'type'>;

export interface Failure {
  code: string;
  message: string;
  hint: string | undefined;
  package: string | undefined;
}

export type Installation =
  | { state: 'idle' }
  | { state: 'running' | 'cancelling'; phase: Phase | undefined; progress: Progress; began: number }
  | { state: 'done'; progress: Progress; fromEarlier: boolean }
  | { state: 'cancelled' }
  | { state: 'failed'; failure: Failure };

export type StoreState = { state: 'closed' | 'opening' | 'waiting' | 'open' } | { state: 'failed'; failure: Failure };

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

export const registry = signal(remembered('registry') ?? __DEFAULT_REGISTRY__);
/** Kept for this visit only. */
export const token = signal('');
export const store = signal<StoreState>({ state: 'closed' });
export const installation = signal<Installation>({ state: 'idle' });
export const warnings = signal<readonly { code: string; message: string }[]>([]);
export const project = signal<Project | undefined>(undefined);
export const usage = signal<StoreUsage | undefined>(undefined);

export const running = computed(() => ['running', 'cancelling'].includes(installation.value.state));

let opened: Promise<Gantry> | undefined;
let cancelling: AbortController | undefined;

export function toFailure(error: unknown): Failure {
  if (error instanceof GantryError) {
    return { code: error.code, message: error.message, hint: error.hint, package: error.package };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'PAGE_ERROR', message, hint: undefined, package: undefined };
}

/** The open store; opened on first use and again after it was lost. */
function gantry(): Promise<Gantry> {
  opened ??= openStore().catch((error: unknown) => {
    opened = undefined;
    store.value = { state: 'failed', failure: toFailure(error) };
    throw error;
  });
  return opened;
}

async function openStore(): Promise<Gantry> {
  store.value = { state: 'opening' };
  const handle = await Gantry.open({
    registry: registry.value,
    ...(token.value && { token: token.value }),
    onWaiting: () => {
      store.value = { state: 'waiting' };
    },
  });
  store.value = { state: 'open' };
  return handle;
}

/** What an earlier visit left behind, shown at once. */
export async function restore(): Promise<void> {
  const id = starter.value.id;
  installation.value = { state: 'idle' };
  warnings.value = [];
  project.value = undefined;
  try {
    const handle = await gantry();
    const earlier = await handle.project(id);
    usage.value = await handle.usage();
    if (starter.value.id !== id || !earlier || running.value) return;
    project.value = earlier;
    installation.value = { state: 'done', progress: totals(earlier), fromEarlier: true };
  } catch (error) {
    await forgetIfLost(error);
  }
}

export async function install(): Promise<void> {
  if (running.value) return;
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
    else if (event.type === 'progress') progress = event;
    else if (event.type === 'warning') collected.push(event);
    else return;
    frame ||= requestAnimationFrame(show);
  };
  installation.value = { state: 'running', phase, progress, began: performance.now() };
  warnings.value = [];
  try {
    const handle = await gantry();
    const installed = await handle.install({
      project: id,
      packageJson: files.value.get('package.json') ?? '{}',
      // Without a tree there was none, or its lock was discarded.
      lockfile: project.value?.lockfile ?? null,
      signal: abort.signal,
      onEvent,
    });
    cancelAnimationFrame(frame);
    warnings.value = collected;
    project.value = installed;
    installation.value = { state: 'done', progress: { ...progress, ...totals(installed) }, fromEarlier: false };
    usage.value = await handle.usage();
  } catch (error) {
    cancelAnimationFrame(frame);
    installation.value = abort.signal.aborted ? { state: 'cancelled' } : { state: 'failed', failure: toFailure(error) };
    await forgetIfLost(error);
  } finally {
    cancelling = undefined;
  }
}

export function cancel(): void {
  const present = installation.value;
  if (present.state !== 'running') return;
  installation.value = { ...present, state: 'cancelling' };
  cancelling?.abort();
}

/** Remove everything this page has stored. */
export async function clearStore(): Promise<void> {
  try {
    const handle = await gantry();
    await handle.clear();
    project.value = undefined;
    installation.value = { state: 'idle' };
    warnings.value = [];
    usage.value = await handle.usage();
  } catch (error) {
    installation.value = { state: 'failed', failure: toFailure(error) };
    await forgetIfLost(error);
  }
}

/** Forget the lock, so that the next install resolves anew. */
export function discardLock(): void {
  project.value = undefined;
  installation.value = { state: 'idle' };
}

/** Take another registry or token: the store is opened again with it. */
export async function configure(settings: { registry: string; token: string }): Promise<void> {
  registry.value = settings.registry || __DEFAULT_REGISTRY__;
  token.value = settings.token;
  remember('registry', registry.value === __DEFAULT_REGISTRY__ ? undefined : registry.value);
  const earlier = opened;
  opened = undefined;
  await earlier?.then((handle) => handle.close()).catch(() => {});
  await restore();
}

async function forgetIfLost(error: unknown): Promise<void> {
  if (!(error instanceof GantryError) || (error.code !== 'WORKER_LOST' && error.code !== 'CLOSED')) return;
  const lost = opened;
  opened = undefined;
  store.value = { state: 'closed' };
  await lost?.then((handle) => handle.close()).catch(() => {});
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
