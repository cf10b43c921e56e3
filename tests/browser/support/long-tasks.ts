/** How long the page's main thread was ever busy without a break. */
import type { Page } from '@playwright/test';

/** From now on, also after a reload. */
export async function watchLongTasks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { longTasks: tasks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    }).observe({ type: 'longtask' });
  });
}

/** Milliseconds of each task over 50 ms since the last call, by the clock: time that the machine gave to others counts. */
export function takeLongTasks(page: Page): Promise<number[]> {
  return page.evaluate(() => (globalThis as unknown as { longTasks: number[] }).longTasks.splice(0));
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Processor time of the thread, in microseconds. */
  tdur?: number;
  args?: { name?: string };
}

/**
 * Milliseconds of processor time of each task of the page's main thread while `action` runs, longest first. Chromium only.
 * Unlike a task's duration it does not grow when other programs keep the processor. `undefined` where the trace does not tell:
 * now and then, on a busy machine, it lacks the thread's name or a task's time.
 */
export async function mainThreadTasks(page: Page, action: () => Promise<void>): Promise<number[] | undefined> {
  const browser = page.context().browser();
  if (!browser) throw new Error('tracing needs a page of a browser that was launched');
  await browser.startTracing(page, { categories: ['__metadata', 'disabled-by-default-devtools.timeline'] });
  await action();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const tasks = traceEvents
    .filter(({ name, ph, pid, tid }) => name === 'RunTask' && ph === 'X' && threads.has(`${pid}/${tid}`))
    .map(({ tdur }) => tdur);
  if (tasks.length === 0 || tasks.some((microseconds) => microseconds === undefined)) return undefined;
  return (tasks as number[]).map((microseconds) => microseconds / 1000).sort((a, b) => b - a);
}
