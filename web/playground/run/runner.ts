/** Run: bundle the project's entry with the installed tree and show it in a sandboxed frame. */
import { effect, signal } from '@preact/signals';
import { type Failure, toFailure } from '../failure.js';
import { installation, project, running } from '../session.js';
import { theme } from '../theme.js';
import { files, starter } from '../workspace.js';
import type { BundleSize } from './bundle.js';

export type Run =
  | { state: 'idle' }
  | { state: 'bundling' }
  /** `thrown`: what the code threw last. What it shows stays: an app goes on after most errors. */
  | { state: 'shown'; page: string; size: BundleSize; serial: number; thrown?: Failure }
  | { state: 'failed'; failure: Failure };

export const run = signal<Run>({ state: 'idle' });
let serial = 0;

export async function start(): Promise<void> {
  const installed = project.value;
  if (!installed || run.value.state === 'bundling') return;
  const mine = ++serial;
  run.value = { state: 'bundling' };
  try {
    // esbuild is twelve megabytes: fetched when it is first needed.
    const { bundle } = await import('./bundle.js');
    const { page, size } = await bundle(installed, files.value, starter.value, theme.value);
    if (serial === mine) run.value = { state: 'shown', page, size, serial };
  } catch (error) {
    if (serial === mine) run.value = { state: 'failed', failure: runFailure(error) };
  }
}

/** After an install Run is likely: have the bundler ready, unless data is dear here. */
export function prepareAfterInstalls(): void {
  const stop = effect(() => {
    const present = installation.value;
    const { connection } = navigator as { connection?: { saveData?: boolean } };
    if (present.state !== 'done' || present.by !== 'install' || connection?.saveData) return;
    queueMicrotask(() => stop());
    void import('./bundle.js')
      .then(({ prepare }) => prepare())
      .catch(() => {
        // Run tries again, and says what is wrong.
      });
  });
}

/** Another project, or a tree that changed under it: what is shown is no longer what Run would show. */
export function followInstalls(): void {
  let shown = starter.value.id;
  let tree = project.value;
  effect(() => {
    const { id } = starter.value;
    const isShown = id === shown && project.value === tree;
    if (isShown && !running.value && installation.value.state !== 'idle') return;
    shown = id;
    tree = project.value;
    serial++;
    run.value = { state: 'idle' };
  });
}

/** What the frame says of itself. */
export function reportFromFrame(message: string): void {
  const present = run.value;
  if (present.state !== 'shown' || present.thrown?.message === message) return;
  const hint = 'The error comes from the code that was run.';
  run.value = { ...present, thrown: { code: 'RUN_THREW', message, hint, package: undefined } };
}

function runFailure(error: unknown): Failure {
  return error instanceof Error && 'failure' in error ? (error.failure as Failure) : toFailure(error);
}
