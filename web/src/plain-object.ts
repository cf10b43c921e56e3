/** Whether a value is what `{ … }` makes or `JSON.parse` gives, of any frame; what else is an object may hide what it has. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || isModule(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of another frame's objects is another one, but it, too, has none.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether a value is what `import()` or `import * as` gives, of which bundlers have likenesses. */
export function isModule(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Module]';
}
