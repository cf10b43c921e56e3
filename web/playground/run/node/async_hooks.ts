/** A page has no async contexts; callbacks simply run. */
export class AsyncResource {
  runInAsyncScope<T>(callback: (...values: unknown[]) => T, self?: unknown, ...values: unknown[]): T {
    return callback.apply(self, values);
  }
  bind<T>(callback: T): T {
    return callback;
  }
  emitDestroy(): this {
    return this;
  }
}

export class AsyncLocalStorage<T> {
  #store: T | undefined;
  run<R>(store: T, callback: (...values: unknown[]) => R, ...values: unknown[]): R {
    const before = this.#store;
    this.#store = store;
    try {
      return callback(...values);
    } finally {
      this.#store = before;
    }
  }
  getStore(): T | undefined {
    return this.#store;
  }
}
