/** The package `events`, which carries no types, as far as it is used here. */
declare module 'events' {
  export class EventEmitter {
    on(event: string, listener: (...values: unknown[]) => void): this;
    emit(event: string, ...values: unknown[]): boolean;
  }
}
