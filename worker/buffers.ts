/** What of an answer is transferred: file contents and long columns are moved to the page, not copied. */
export function buffersOf(result: unknown): Transferable[] {
  const isPlain = typeof result === 'object' && result !== null && !ArrayBuffer.isView(result);
  const values: unknown[] = isPlain ? Object.values(result) : [result];
  return [...new Set(values.filter((value) => ArrayBuffer.isView(value)).map(({ buffer }) => buffer as ArrayBuffer))];
}
