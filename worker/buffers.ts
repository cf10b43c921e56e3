import type { HandOver } from './messages.js';

/** What of an answer is transferred: file contents and long columns are moved to the page, not copied. */
export function buffersOf(result: unknown): Transferable[] {
  const isPlain = typeof result === 'object' && result !== null && !ArrayBuffer.isView(result);
  const values: unknown[] = isPlain ? Object.values(result) : [result];
  return [...new Set(values.filter((value) => ArrayBuffer.isView(value)).map(({ buffer }) => buffer as ArrayBuffer))];
}

/** What of messages between the pool and a worker is transferred: the files that change hands. */
export function piecesOf(messages: readonly (object | HandOver)[]): Transferable[] {
  return messages.flatMap((message) => ('files' in message ? message.files.flatMap(({ pieces }) => pieces) : []));
}
