import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { PurchaseSource } from '../read/read-costs.js';
import { NumberList } from './number-list.js';

/** A purchase that cost something. */
export interface Spend {
  /** In ms since the epoch. */
  readonly at: number;
  readonly amount: MicroDollars;
  readonly source: PurchaseSource;
}

const sources: readonly PurchaseSource[] = ['reported', 'estimated', 'unknown'];

/** Purchases in the order of time, each made when it is asked for: a million are kept in 17 MB. */
export class Spending implements Iterable<Spend> {
  private readonly times = new NumberList();
  private readonly amounts = new NumberList();
  private readonly sources = new NumberList(Uint8Array);

  get length(): number {
    return this.times.length;
  }

  add({ at, amount, source }: Spend): void {
    this.times.push(at);
    this.amounts.push(amount);
    this.sources.push(sources.indexOf(source));
  }

  *[Symbol.iterator](): Generator<Spend, void, void> {
    for (const place of this.times.ranked()) {
      const source = sources[this.sources.at(place)] ?? 'unknown';
      yield { at: this.times.at(place), amount: this.amounts.at(place), source };
    }
  }
}
