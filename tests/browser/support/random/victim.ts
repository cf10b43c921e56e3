/** What is ended in the midst of a round, as a browser or a user may. */
import type { Dice } from '../../../cli/lib/random/dice.mjs';
import type { Tab } from './tab.js';

export interface Victim {
  tab: Tab;
  what: 'unpack worker' | 'coordinator' | 'page' | 'document' | 'store';
  /** Milliseconds into the round. */
  after: number;
  worker: string;
}

/** A page takes a store in memory along, and so does the coordinator. A page that is reloaded is a new document. */
export function makeVictim(dice: Dice, tab: Tab, storage: 'opfs' | 'memory'): Victim {
  const others = { coordinator: 1, page: 1, document: 1, store: 1 };
  const what = dice.weighted({ 'unpack worker': 3, ...(storage === 'opfs' && others) });
  const worker = what === 'coordinator' ? 'gantry' : `gantry-unpack-${dice.between(0, 1)}`;
  return { tab, what, after: dice.one([0, 10, 30, 60, 100, 200, 400]), worker };
}

export async function end({ tab, what, after, worker }: Victim): Promise<void> {
  await new Promise((resume) => setTimeout(resume, after));
  // An unpack worker has a successor.
  if (what !== 'unpack worker') tab.isDisturbed = true;
  if (what === 'page') await tab.close();
  else if (what === 'document') await tab.reload();
  else if (what === 'store') await tab.run('close');
  else await tab.run('endWorker', { name: worker });
}
