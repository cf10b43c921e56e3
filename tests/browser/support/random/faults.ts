/** What a registry may do wrong in a random course of a page. */
import type { Dice } from '../../../cli/lib/random/dice.mjs';
import type { Fault } from '../../../cli/lib/random/faulty-registry.mjs';

const FAULTS = [
  { kind: 'status', status: 503 },
  { kind: 'status', status: 404 },
  { kind: 'reset' },
  { kind: 'hang' },
  { kind: 'corrupt' },
  { kind: 'cut' },
] as const satisfies readonly Fault[];

/** One of those that a page is shown. */
export type PageFault = (typeof FAULTS)[number] | { kind: 'slow'; milliseconds: number };

/** None is the most usual. */
export function makeFault(dice: Dice): PageFault | undefined {
  if (dice.chance(0.2)) return dice.one<PageFault>(FAULTS);
  return dice.chance(0.4) ? { kind: 'slow', milliseconds: dice.one([20, 100, 300]) } : undefined;
}
