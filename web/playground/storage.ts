/** What the page remembers between visits. Storage may be refused; then nothing is remembered. */

export function remembered(key: string): string | undefined {
  try {
    return localStorage.getItem(`gantry:${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** `undefined` forgets. */
export function remember(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`gantry:${key}`);
    else localStorage.setItem(`gantry:${key}`, value);
  } catch {
    // Not remembered.
  }
}
