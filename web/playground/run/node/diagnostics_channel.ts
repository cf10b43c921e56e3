/** Channels that nobody listens to. */
const silent = { hasSubscribers: false, publish() {}, subscribe() {}, unsubscribe: () => false };

export function channel() {
  return silent;
}

export function tracingChannel() {
  return {
    hasSubscribers: false,
    start: silent,
    end: silent,
    asyncStart: silent,
    asyncEnd: silent,
    error: silent,
    traceSync: (callback: (...values: unknown[]) => unknown, _context: unknown, self: unknown, ...values: unknown[]) =>
      callback.apply(self, values),
  };
}
