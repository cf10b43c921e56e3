/** A name that nobody else has. `crypto.randomUUID` would do, but for pages and workers without a secure context. */
export function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join('-');
}
