/** Those who wait at a gate, in two lines of first come, first served: nobody of the second goes before the first is empty. */
export interface WaitingLine<T> {
  readonly size: number;
  /** How many go before a newcomer. */
  ahead(urgent: boolean): number;
  add(waiter: T, urgent: boolean): void;
  delete(waiter: T): void;
  first(): T | undefined;
  /** All of them, in order, as they stand now. */
  all(): T[];
}

export function createWaitingLine<T>(): WaitingLine<T> {
  const urgent = new Set<T>();
  const later = new Set<T>();
  return {
    get size() {
      return urgent.size + later.size;
    },
    ahead: (isUrgent) => (isUrgent ? urgent.size : urgent.size + later.size),
    add: (waiter, isUrgent) => (isUrgent ? urgent : later).add(waiter),
    delete: (waiter) => urgent.delete(waiter) || later.delete(waiter),
    first() {
      for (const waiter of urgent) return waiter;
      for (const waiter of later) return waiter;
      return undefined;
    },
    all: () => [...urgent, ...later],
  };
}
