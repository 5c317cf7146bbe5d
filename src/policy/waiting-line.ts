/** What waits at a gate, in two lines of first come, first served: nothing of the second goes before the first is empty. */
export interface WaitingLine<T> {
  readonly size: number;
  /** How many go before a newcomer. */
  ahead(urgent: boolean): number;
  /** @param arrival compared between lines: the lower one came first */
  add(waiter: T, urgent: boolean, arrival?: number): void;
  delete(waiter: T): void;
  first(): T | undefined;
  /** Arrival of the first one, urgent ones below all others; `Infinity`: none waits. */
  readonly firstPlace: number;
  /** All of them, in order, as they stand now. */
  all(): T[];
}

/** Arrivals stay below it. */
const later = 2 ** 52;

export function createWaitingLine<T>(): WaitingLine<T> {
  const urgentOnes = new Map<T, number>();
  const others = new Map<T, number>();
  return {
    get size() {
      return urgentOnes.size + others.size;
    },
    ahead: (isUrgent) => (isUrgent ? urgentOnes.size : urgentOnes.size + others.size),
    add: (waiter, isUrgent, arrival = 0) => (isUrgent ? urgentOnes : others).set(waiter, arrival),
    delete: (waiter) => urgentOnes.delete(waiter) || others.delete(waiter),
    first() {
      for (const waiter of urgentOnes.keys()) return waiter;
      for (const waiter of others.keys()) return waiter;
      return undefined;
    },
    get firstPlace() {
      for (const arrival of urgentOnes.values()) return arrival;
      for (const arrival of others.values()) return later + arrival;
      return Infinity;
    },
    all: () => [...urgentOnes.keys(), ...others.keys()],
  };
}
