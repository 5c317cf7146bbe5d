import * as z from 'zod';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';

export const dayMs = 86_400_000;
/** Spent money is summed per minute. */
export const minuteMs = 60_000;

/** The money reserved and spent in a rolling 24 hours, built from the entries of a ledger file in order. */
export class DayBook {
  /** By minute, so that a day takes at most 1,441 numbers, however many rows it had. */
  private readonly spentByMinute = new Map<number, MicroDollars>();
  /** By run and row, the latest last: a row that was bought again has two. */
  private readonly reservations = new Map<string, Reservation[]>();

  apply(entry: DayEntry): void {
    switch (entry.k) {
      case 'reserve': {
        const { at, run, id, amount } = entry;
        const key = keyOf(run, id);
        this.reservations.set(key, [...(this.reservations.get(key) ?? []), { at, run, id, amount }]);
        return;
      }
      case 'settle':
        this.endLatest(entry.run, entry.id);
        return this.spend(entry.at, entry.amount);
      case 'release':
        return this.endLatest(entry.run, entry.id);
      case 'spent':
        return this.spend(entry.at, entry.amount);
      case 'ledger':
        return;
    }
  }

  /** Drops entries older than 24 hours before `now`. Entries with a later time, written under another machine's clock, count. */
  expire(now: number): void {
    const start = now - dayMs;
    for (const minute of this.spentByMinute.keys()) {
      if ((minute + 1) * minuteMs <= start) this.spentByMinute.delete(minute);
    }
    for (const [key, list] of this.reservations)
      this.keep(
        key,
        list.filter(({ at }) => at > start),
      );
  }

  get spent(): MicroDollars {
    let sum = 0;
    for (const amount of this.spentByMinute.values()) sum += amount;
    return sum;
  }

  get reserved(): MicroDollars {
    let sum = 0;
    for (const list of this.reservations.values()) for (const { amount } of list) sum += amount;
    return sum;
  }

  /** The open reservations of one run, or of all runs. */
  outstanding(run?: string): Reservation[] {
    return [...this.reservations.values()]
      .flat()
      .filter((reservation) => run === undefined || reservation.run === run);
  }

  /** The time at which `amount` will have left the 24 hours; `undefined` if all entries together are less than that. */
  roomAt(amount: MicroDollars): number | undefined {
    const leaving = [
      ...[...this.spentByMinute].map(([minute, spent]) => ({ at: (minute + 1) * minuteMs, amount: spent })),
      ...this.outstanding(),
    ].sort((a, b) => a.at - b.at);
    let left = amount;
    const last = leaving.find((part) => (left -= part.amount) <= 0);
    return last && last.at + dayMs;
  }

  /** The fewest entries that give the same sums. */
  compact(): DayEntry[] {
    const spent = [...this.spentByMinute].map(([minute, amount]) => ({
      k: 'spent' as const,
      at: minute * minuteMs,
      amount,
    }));
    return [
      ...spent,
      ...this.outstanding().map((reservation) => ({ k: 'reserve' as const, ...reservation })),
    ];
  }

  private spend(at: number, amount: MicroDollars): void {
    const minute = Math.floor(at / minuteMs);
    this.spentByMinute.set(minute, (this.spentByMinute.get(minute) ?? 0) + amount);
  }

  private endLatest(run: string, id: string): void {
    const key = keyOf(run, id);
    this.keep(key, (this.reservations.get(key) ?? []).slice(0, -1));
  }

  private keep(key: string, list: Reservation[]): void {
    if (list.length > 0) this.reservations.set(key, list);
    else this.reservations.delete(key);
  }
}

function keyOf(run: string, id: string): string {
  return JSON.stringify([run, id]);
}

/** One line of the shared ledger file. `at` in ms since the epoch, amounts in millionths of a dollar. */
export function dayEntrySchema() {
  const amount = z.number().nonnegative();
  const owned = { at: z.number(), run: z.string(), id: z.string() };
  return z.discriminatedUnion('k', [
    /** The first line. Each new or rewritten file has another name, by which a reader knows that it must start again. */
    z.object({ k: z.literal('ledger'), format: z.literal(1), name: z.string() }),
    z.object({ k: z.literal('reserve'), ...owned, amount }),
    /** Ends the row's latest reservation. */
    z.object({ k: z.literal('settle'), ...owned, amount }),
    z.object({ k: z.literal('release'), ...owned }),
    /** Written by a compaction: the money that was settled within one minute. */
    z.object({ k: z.literal('spent'), at: z.number(), amount }),
  ]);
}
export type DayEntry = z.infer<ReturnType<typeof dayEntrySchema>>;

/** A reservation that its run has not ended yet. */
export type Reservation = Omit<Extract<DayEntry, { k: 'reserve' }>, 'k'>;
