import type { RowKind } from '../manifest/manifest-row.js';
import type { MoneyBySource, ReportedPrice, Totals } from '../journal/journal.js';

/** What a row's latest purchase counts as. One byte in the table. */
export const bookings = { none: 0, reserved: 1, reported: 2, estimated: 3, unknown: 4 } as const;
export type Booking = (typeof bookings)[keyof typeof bookings];

/** What purchases are told apart by. */
export interface Purchase {
  readonly kind: string;
  readonly endpoint: string;
  readonly resolution: string;
}

export interface Account {
  readonly purchase: Purchase;
  readonly sums: [none: number, reserved: number, reported: number, estimated: number, unknown: number];
  /** With a known end. */
  purchases: number;
  /** Highest reported price; -1 where none was reported. */
  highest: number;
}

/** At most so many kinds of purchase are told apart; the rest counts as one. */
const maxAccounts = 0xffff;
export const nothing: Purchase = { kind: '', endpoint: '', resolution: '' };

/** The sums of a journal, an account for each kind of purchase. A row has the place of its account in the table. */
export class Accounts {
  private all: Account[] = [emptyAccount(nothing)];
  private readonly places = new Map<string, number>();
  private latest = nothing;
  private latestPlace = 0;

  at(place: number): Account {
    return this.all[place] ?? emptyAccount(nothing);
  }

  /** Mostly asked for the same purchase again, and then as the same object. */
  placeOf(purchase: Purchase): number {
    if (purchase === this.latest) return this.latestPlace;
    this.latest = purchase;
    this.latestPlace = this.find(purchase);
    return this.latestPlace;
  }

  /** All of them, by place: plain values. */
  get kept(): readonly Account[] {
    return this.all;
  }

  /** Goes on from what was `kept`. */
  restore(kept: readonly Account[]): void {
    this.all = [...kept];
    for (const [place, { purchase }] of this.all.entries())
      if (place > 0) this.places.set(nameOf(purchase), place);
  }

  totals(): Pick<Totals, 'spent' | 'unknown' | 'reserved' | 'byResolution' | 'purchases'> {
    const whole = emptyAccount(nothing);
    const byResolution = new Map<string, Account>();
    for (const account of this.all) {
      const { resolution } = account.purchase;
      const sum = byResolution.get(resolution) ?? emptyAccount(account.purchase);
      byResolution.set(resolution, sum);
      for (const into of [whole, sum]) addTo(into, account);
    }
    const used = [...byResolution].filter(([, sum]) => isUsed(sum));
    return {
      spent: spentOf(whole),
      unknown: whole.sums[bookings.unknown],
      reserved: whole.sums[bookings.reserved],
      byResolution: new Map(used.map(([resolution, sum]) => [resolution, resolutionTotals(sum)])),
      purchases: whole.purchases,
    };
  }

  highestReported(): ReportedPrice[] {
    return this.all
      .filter(({ highest }) => highest >= 0)
      .map(({ purchase, highest }) => ({ ...purchase, kind: purchase.kind as RowKind, cost: highest }));
  }

  private find(purchase: Purchase): number {
    const name = nameOf(purchase);
    const known = this.places.get(name);
    if (known !== undefined || this.all.length >= maxAccounts) return known ?? 0;
    const place = this.all.push(emptyAccount(purchase)) - 1;
    this.places.set(name, place);
    return place;
  }
}

function nameOf({ kind, endpoint, resolution }: Purchase): string {
  return `${kind} ${endpoint} ${resolution}`;
}

function emptyAccount(purchase: Purchase): Account {
  return { purchase, sums: [0, 0, 0, 0, 0], purchases: 0, highest: -1 };
}

function addTo(sum: Account, account: Account): void {
  for (const booking of [1, 2, 3, 4] as const) sum.sums[booking] += account.sums[booking];
  sum.purchases += account.purchases;
}

function isUsed({ sums, purchases }: Account): boolean {
  return purchases > 0 || sums.some((sum) => sum > 0);
}

function resolutionTotals(account: Account): MoneyBySource & { purchases: number; unknown: number } {
  return { ...spentOf(account), purchases: account.purchases, unknown: account.sums[bookings.unknown] };
}

function spentOf({ sums }: Account): MoneyBySource {
  return { reported: sums[bookings.reported], estimated: sums[bookings.estimated] };
}
