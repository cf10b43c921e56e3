import { inspect as show } from '../frame/inspect.js';

type Constructor = { prototype: object };

export function inspect(value: unknown): string {
  return show(value);
}

export function format(...values: unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : show(value))).join(' ');
}

export function inherits(child: Constructor & { super_?: unknown }, parent: Constructor): void {
  child.super_ = parent;
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

export function deprecate<T>(callback: T): T {
  return callback;
}

export function promisify(callback: (...values: unknown[]) => void) {
  return (...values: unknown[]) =>
    new Promise((resolve, reject) =>
      callback(...values, (error: unknown, result: unknown) => (error ? reject(error) : resolve(result))),
    );
}

export const types = {
  isDate: (value: unknown) => value instanceof Date,
  isRegExp: (value: unknown) => value instanceof RegExp,
  isUint8Array: (value: unknown) => value instanceof Uint8Array,
};

const { TextDecoder: PlatformDecoder, TextEncoder: PlatformEncoder } = globalThis;

export { PlatformDecoder as TextDecoder, PlatformEncoder as TextEncoder };
