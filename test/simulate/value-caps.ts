import { peekJournal } from '../../runners/batch/journal/recovered-journal.js';
import { takenByValue } from '../../runners/batch/row/value-costs.js';
import type { ForgetfulDisk } from '../support/forgetful-disk.js';
import { seeded } from '../support/seeded.js';

export const payers = ['acme', 'beta', ''] as const;

/** Who pays for a row: by its number alone, so that a row that is appended has a payer as well. */
export function payerOf(id: string): (typeof payers)[number] {
  return payers[Number(/\d+$/.exec(id)?.[0] ?? 0) % payers.length] ?? '';
}

/** What a schedule gives its starts, one after the other: a cap for each payer, which is mostly raised, or none. By the seed alone. */
export function randomValueCaps(seed: number, starts: number): (number | undefined)[] {
  const random = seeded(seed + 0.75);
  if (random() < 0.4) return Array<undefined>(starts).fill(undefined);
  let cap = 0.02 + random() ** 2 * 0.5;
  return Array.from({ length: starts }, () => {
    if (random() < 0.3) cap *= 1 + random();
    return Math.round(cap * 1e6) / 1e6;
  });
}

/** The caps that a run has had; once it had none, none is crossed. */
export class ValueCapWatch {
  private highest = 0;

  /** A start begins with this cap; `undefined`: with none. */
  begin(capUsd: number | undefined): void {
    this.highest = Math.max(this.highest, capUsd === undefined ? Infinity : Math.round(capUsd * 1e6));
  }

  /** What the service has billed for the rows of each payer, and what the books have taken for them, if they are given. */
  async crossed(
    disk: ForgetfulDisk | undefined,
    bill: ReadonlyMap<string, number> | undefined,
    out = '/job/out',
  ): Promise<string[]> {
    if (this.highest === Infinity) return [];
    const billed = new Map<string, number>();
    for (const [id, amount] of bill ?? []) billed.set(payerOf(id), (billed.get(payerOf(id)) ?? 0) + amount);
    const peeked = disk && peekJournal(disk, out, { costBy: ['customer'], maxCostByUsd: null });
    const journal = await peeked?.catch(() => undefined);
    const taken = journal === undefined ? undefined : takenByValue(journal.recovered.tally).get('customer');
    return [...this.above('billed', billed), ...this.above('taken', taken ?? new Map<string, number>())];
  }

  private above(what: string, sums: ReadonlyMap<string, number>): string[] {
    return [...sums].flatMap(([payer, amount]) =>
      amount > this.highest ? [`${amount} ${what} for "${payer}" under a cap of ${this.highest}`] : [],
    );
  }
}
