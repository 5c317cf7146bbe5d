import { otherValues } from '../ledger/value-caps.js';
import type { RowKind } from '../manifest/manifest-row.js';
import { bookings, type Booking } from './row-books.js';
import type { Account, MoneyTotals, PurchaseKind, ReportedPrice, Totals } from './totals.js';

/**
 * The limit for separate accounts, which take about 60 MB. Beyond it, new kinds of purchase share one account, and new values
 * share one account per kind.
 */
const maxAccounts = 100_000;
export const nothing: PurchaseKind = { kind: '', endpoint: '', resolution: '' };

/** The sums of a journal, with one account for each kind of purchase. A row refers to its account by index. */
export class Accounts {
  private all: Account[] = [emptyAccount(nothing)];
  private readonly places = new Map<string, number>();
  private latest = nothing;
  private latestPlace = 0;
  /** The columns by which accounts are kept separate, in addition to the kind of purchase. */
  columns: readonly string[] = [];

  at(place: number): Account {
    return this.all[place] ?? emptyAccount(nothing);
  }

  /** Most calls are for the same purchase as the call before, so that one is compared first. */
  placeOf(purchase: PurchaseKind): number {
    const { latest } = this;
    if (purchase === latest) return this.latestPlace;
    const { kind, endpoint, resolution, by } = purchase;
    const isSame = endpoint === latest.endpoint && resolution === latest.resolution && kind === latest.kind;
    if (isSame && latest !== nothing && by === undefined && latest.by === undefined) return this.latestPlace;
    this.latest = purchase;
    this.latestPlace = this.find(purchase);
    return this.latestPlace;
  }

  /** All accounts by index, as plain values. */
  get kept(): readonly Account[] {
    return this.all;
  }

  restore(kept: readonly Account[]): void {
    this.all = kept.map((account) => structuredClone(account));
    for (const [place, { purchase }] of this.all.entries())
      if (place > 0) this.places.set(nameOf(purchase), place);
  }

  totals(): Omit<Totals, 'rows' | 'possiblyDouble' | 'statusCalls'> {
    const whole = emptyAccount(nothing);
    const byResolution = new Map<string, Account>();
    for (const account of this.all) {
      const { resolution } = account.purchase;
      const sum = byResolution.get(resolution) ?? emptyAccount(account.purchase);
      byResolution.set(resolution, sum);
      for (const into of [whole, sum]) addTo(into, account);
    }
    const { reserved, unknown, paidUnknown } = bookings;
    const { reported, estimated, unknown: held, purchases } = moneyOf(whole, all);
    const unpricedEnded = whole.unpriced[unknown] ?? 0;
    return {
      spent: { reported, estimated },
      unknown: held,
      reserved: whole.sums[reserved] ?? 0,
      unpriced: (whole.unpriced[reserved] ?? 0) + unpricedEnded + (whole.unpriced[paidUnknown] ?? 0),
      byResolution: moneyByResolution(byResolution, all),
      purchases,
      ended: {
        ...moneyOf(whole, ended),
        unpriced: unpricedEnded,
        byResolution: moneyByResolution(byResolution, ended),
      },
    };
  }

  highestReported(): ReportedPrice[] {
    const found = new Map<string, ReportedPrice>();
    for (const { purchase, highest } of this.all) {
      if (highest < 0) continue;
      const { kind, endpoint, resolution } = purchase;
      const name = nameOf({ kind, endpoint, resolution });
      const cost = Math.max(highest, found.get(name)?.cost ?? 0);
      found.set(name, { kind: kind as RowKind, endpoint, resolution, cost });
    }
    return [...found.values()];
  }

  /** The number of rows by the byte of their status. */
  rows(): number[] {
    const sums: number[] = [];
    for (const { rows } of this.all) addRows(sums, rows);
    return sums;
  }

  private find(purchase: PurchaseKind): number {
    const name = nameOf(purchase);
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const isFull = this.all.length >= (isShared(purchase) ? 2 * maxAccounts : maxAccounts);
    if (isFull) return isShared(purchase) ? 0 : this.findShared(purchase);
    const place = this.all.push(emptyAccount(purchase)) - 1;
    this.places.set(name, place);
    return place;
  }

  private findShared({ by, ...purchase }: PurchaseKind): number {
    return by === undefined ? 0 : this.find({ ...purchase, by: by.map(() => otherValues) });
  }
}

function isShared({ by }: PurchaseKind): boolean {
  return by?.[0] === otherValues;
}

function nameOf({ kind, endpoint, resolution, by }: PurchaseKind): string {
  const name = `${kind} ${endpoint} ${resolution}`;
  return by === undefined ? name : `${name} ${JSON.stringify(by)}`;
}

function emptyAccount(purchase: PurchaseKind): Account {
  const zeros = (): number[] => new Array<number>(8).fill(0);
  return { purchase, sums: zeros(), counts: zeros(), unpriced: zeros(), rows: [], highest: -1 };
}

function addTo(sum: Account, account: Account): void {
  for (const part of ['sums', 'counts', 'unpriced'] as const)
    account[part].forEach((value, booking) => (sum[part][booking] = (sum[part][booking] ?? 0) + value));
}

export function addRows(sums: number[], rows: readonly number[]): void {
  rows.forEach((count, byte) => (sums[byte] = (sums[byte] ?? 0) + count));
}

interface Counted {
  readonly reported: readonly Booking[];
  readonly estimated: readonly Booking[];
  readonly unknown: readonly Booking[];
}

const { reported, estimated, unknown, paidReported, paidEstimated, paidUnknown } = bookings;
const all: Counted = {
  reported: [reported, paidReported],
  estimated: [estimated, paidEstimated],
  unknown: [unknown, paidUnknown],
};
const ended: Counted = { reported: [reported], estimated: [estimated], unknown: [unknown, paidUnknown] };

function moneyOf({ sums, counts }: Pick<Account, 'sums' | 'counts'>, counted: Counted): MoneyTotals {
  return {
    reported: sumOf(sums, counted.reported),
    estimated: sumOf(sums, counted.estimated),
    unknown: sumOf(sums, counted.unknown),
    purchases: sumOf(counts, counted.reported) + sumOf(counts, counted.estimated),
  };
}

/** Money of all purchases, without the splits of `totals`. Called after each record. */
export function moneyOfAll(accounts: readonly Account[]): MoneyTotals {
  const whole = emptyAccount(nothing);
  for (const account of accounts) addTo(whole, account);
  return moneyOf(whole, all);
}

/** The money of purchases in the files: those of rows that have ended. */
export function endedMoney(account: Pick<Account, 'sums' | 'counts'>): MoneyTotals {
  return moneyOf(account, ended);
}

function sumOf(values: readonly number[], of: readonly Booking[]): number {
  return of.reduce<number>((sum, booking) => sum + (values[booking] ?? 0), 0);
}

/** Resolutions are in the order of their first purchase; those without any booking are left out. */
function moneyByResolution(
  accounts: ReadonlyMap<string, Account>,
  counted: Counted,
): ReadonlyMap<string, MoneyTotals> {
  const used = [...accounts].filter(
    ([, account]) => account.sums.some((sum) => sum > 0) || moneyOf(account, all).purchases > 0,
  );
  return new Map(used.map(([resolution, account]) => [resolution, moneyOf(account, counted)]));
}
