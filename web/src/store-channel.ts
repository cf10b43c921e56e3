/** What those who have a store open, or read it, tell each other. Nobody's correctness depends on being heard: see `store-lock.ts`. */

/**
 * Somebody waits for the store, or wants to remove packages, which reading prevents, or has opened the store that has this mark.
 */
export type Word = 'wanted' | 'removing' | { opened: string };

/** The channel of a store; all of an origin hear it. */
export function storeChannel(store: string): BroadcastChannel {
  return new BroadcastChannel(`gantry-store:${store}`);
}

/** Have whoever reads the store by itself, and can open it again, let go of it. */
export function askReadersToLetGo(store: string): void {
  const channel = storeChannel(store);
  channel.postMessage('removing' satisfies Word);
  channel.close();
}
