import { type MicroDollars, toUsd } from '../../../src/contract/micro-dollars.js';
import { isRead, otherResolution, type Row, type RowKind } from '../manifest/manifest-row.js';
import { toPriceList, type EndpointPrice, type PriceList } from './price-list.js';

/** The properties of a row that its price depends on. */
export interface Priced {
  readonly kind: RowKind;
  /** The empty string on a route. */
  readonly endpoint: string;
  /** If it is missing on an edit, the service's default of 1k applies; on a job, the highest price of its endpoint. */
  readonly resolution?: string | undefined;
}

/** A reported price that differs from the book's, in millionths of a dollar. */
interface PriceMismatch {
  readonly expected: MicroDollars;
  readonly reported: MicroDollars;
  /** The first mismatch for this endpoint and resolution: the one to warn about. */
  readonly first: boolean;
  /** `reported / expected - 1`; Infinity where 0 was expected. */
  readonly drift: number;
}

/** The price of one purchase, as far as it is known in advance. Prices in millionths of a dollar. */
export interface PriceBook {
  /** The amount to reserve: the book's price, or the highest one reported so far if that is higher. `null` if not known. */
  priceOf(row: Priced): MicroDollars | null;
  /**
   * Records a reported price. Returns a mismatch for the first differing price of an endpoint and resolution, and for
   * each one higher than all before; otherwise `as-expected`, also if the book has no price.
   */
  observe(row: Priced, reported: MicroDollars): 'as-expected' | PriceMismatch;
  /** The cost of a finished purchase that reported no price. `null` if the book has no price for it. */
  estimate(row: Priced, executionTimeMs: number | undefined): MicroDollars | null;
  /** The share by which the highest reported price exceeds the book's: 0.1 for 10 %; 0 if there is nothing to compare. */
  driftOf(row: Priced): number;
  /** The prices used, for the summary, with the highest price reported for each kind, endpoint and resolution. */
  table(): PriceTable;
}

/** The prices of a run: those of the book, the assumed one, and the reported ones. */
export interface PriceTable {
  readonly book: PriceList;
  /** Used where the book has no price. */
  readonly assumed?: MicroDollars;
  readonly reported: readonly (Priced & {
    readonly expected: MicroDollars | null;
    readonly highest: MicroDollars;
  })[];
}

interface Seen {
  readonly row: Priced;
  highest: MicroDollars;
  warned: boolean;
}

/** @param list @defaultValue the published prices (spec 8) */
export function createPriceBook(list: PriceList = toPriceList()): PriceBook {
  const seen = new Map<string, Seen>();
  return {
    priceOf(row) {
      const listed = listedPrice(list, row);
      const highest = seen.get(keyOf(row))?.highest ?? null;
      return listed === null || highest === null ? (listed ?? highest) : Math.max(listed, highest);
    },
    observe(row, reported) {
      const key = keyOf(row);
      const known: Seen = seen.get(key) ?? { row: pricedOf(row), highest: -1, warned: false };
      seen.set(key, known);
      const isDearer = reported > known.highest;
      known.highest = Math.max(known.highest, reported);
      const price = list.endpoints.get(row.endpoint);
      const expected = price !== undefined && isOfOldJournal(price, row) ? null : listedPrice(list, row);
      if (expected === null || expected === reported || (known.warned && !isDearer)) return 'as-expected';
      const first = !known.warned;
      known.warned = true;
      return { expected, reported, first, drift: driftFrom(expected, reported) };
    },
    driftOf(row) {
      const expected = listedPrice(list, row);
      const highest = seen.get(keyOf(row))?.highest;
      return expected === null || highest === undefined ? 0 : Math.max(driftFrom(expected, highest), 0);
    },
    estimate(row, executionTimeMs) {
      const price = list.endpoints.get(row.endpoint);
      if (price !== undefined && isOfOldJournal(price, row)) return null;
      if (row.kind === 'route' || price === undefined || !('perSecond' in price))
        return listedPrice(list, row);
      return executionTimeMs === undefined ? null : perSecond(price.perSecond, executionTimeMs / 1_000);
    },
    table: () => ({
      book: list,
      reported: [...seen.values()].map(({ row, highest }) => ({
        ...row,
        expected: listedPrice(list, row),
        highest,
      })),
    }),
  };
}

/** The expected cost of a row before it is sent; `null` if the price is not known. */
export function rowPrice(row: Row, prices: Pick<PriceBook, 'priceOf'>): MicroDollars | null {
  return isRead(row) ? 0 : prices.priceOf(row);
}

/** Whether no list has the price of a purchase: it is known from what the service has reported before, or not at all. */
export function isUnlisted({ book, assumed }: PriceTable, row: Priced): boolean {
  return assumed === undefined && listedPrice(book, row) === null;
}

/** A job with a price per picture that a start of 0.1.0 has sent: its journal has no resolution of jobs, and what was reserved stands. */
function isOfOldJournal(price: EndpointPrice, { kind, resolution }: Priced): boolean {
  return kind === 'job' && resolution === undefined && 'perPicture' in price;
}

function driftFrom(expected: MicroDollars, reported: MicroDollars): number {
  if (expected === 0) return reported === 0 ? 0 : Infinity;
  return reported / expected - 1;
}

function listedPrice(list: PriceList, row: Priced): MicroDollars | null {
  if (row.kind === 'route') return list.route;
  const named = list.endpoints.get(row.endpoint);
  if (named !== undefined) return endpointPrice(named, row);
  return row.kind === 'edit' ? (list.edit[resolutionOf(row)] ?? null) : null;
}

function endpointPrice(price: EndpointPrice, row: Priced): MicroDollars | null {
  if ('perJob' in price) return price.perJob;
  if ('perPicture' in price) return picturePrice(price.perPicture, resolutionOf(row));
  return price.reserveSeconds === undefined ? null : perSecond(price.perSecond, price.reserveSeconds);
}

function picturePrice(
  prices: Readonly<Record<string, MicroDollars>>,
  resolution: string,
): MicroDollars | null {
  const price = prices[resolution];
  if (price !== undefined || resolution !== otherResolution) return price ?? null;
  const known = Object.values(prices);
  return known.length === 0 ? null : Math.max(...known);
}

/** Rounded up, so that a reservation is never a millionth short; rounding errors of binary fractions are ignored. */
function perSecond(price: number, seconds: number): MicroDollars {
  return Math.ceil(price * seconds - 1e-6);
}

function resolutionOf({ kind, resolution }: Priced): string {
  return resolution ?? (kind === 'job' ? otherResolution : '1k');
}

function keyOf({ kind, endpoint, resolution = '' }: Priced): string {
  return `${kind} ${endpoint} ${kind === 'edit' && resolution === '' ? '1k' : resolution}`;
}

/** Copies only the properties that the price depends on. */
export function pricedOf({ kind, endpoint, resolution }: Priced): Priced {
  return { kind, endpoint, ...(resolution !== undefined && { resolution }) };
}

/** The same book, but with the price `assumed` wherever it knows none: for reservations, and where no price is reported. */
export function assumePrice(book: PriceBook, assumed: MicroDollars): PriceBook {
  const isAssumed = (row: Priced): boolean => listedPrice(book.table().book, row) === null;
  return {
    priceOf: (row) => book.priceOf(row) ?? assumed,
    observe(row, reported) {
      const before = book.priceOf(row);
      const seen = book.observe(row, reported);
      if (!isAssumed(row) || reported <= Math.max(before ?? 0, assumed)) return seen;
      const first = before === null || before <= assumed;
      return { expected: assumed, reported, first, drift: driftFrom(assumed, reported) };
    },
    driftOf(row) {
      const highest = isAssumed(row) ? book.priceOf(row) : null;
      return highest === null ? book.driftOf(row) : Math.max(driftFrom(assumed, highest), 0);
    },
    estimate: (row, executionTimeMs) =>
      book.estimate(row, executionTimeMs) ?? (isAssumed(row) ? assumed : null),
    table: () => ({ ...book.table(), assumed }),
  };
}

/** The prices as they are printed and written to files, in US dollars. */
interface ListedPrices {
  /** `published`, or the file that they were read from. */
  readonly name: string;
  /** The prices used, by label: `1k`, `mine at 2k`, `upscale a second`, `upscale a job`, `a route call`, `assumed`. */
  readonly prices: Readonly<Record<string, number>>;
  /** The highest price reported, where it differs from the listed one. */
  readonly reported: Readonly<Record<string, number>>;
  /** The highest cost so far, where it is reserved because it is above the listed price or none is listed. */
  readonly reserved: Readonly<Record<string, number>>;
}

/** The costs that are reserved in place of the expected price, because they are higher or none is expected. */
export function higherCosts(reported: PriceTable['reported']): PriceTable['reported'] {
  return reported.filter(({ expected, highest }) => highest > (expected ?? -1));
}

export function listPrices({ book, reported, assumed }: PriceTable): ListedPrices {
  const endpoints = [...book.endpoints].flatMap(([id, price]) => endpointPrices(id, price));
  const entries = [
    ...Object.entries(book.edit),
    ...endpoints,
    ...(book.route === null ? [] : [['a route call', book.route] as const]),
    ...(assumed === undefined ? [] : [['assumed', assumed] as const]),
  ];
  const costs = (those: PriceTable['reported']) =>
    Object.fromEntries(those.map(({ highest, ...row }) => [labelOf(row), toUsd(highest)]));
  return {
    name: book.name,
    prices: Object.fromEntries(entries.map(([label, price]) => [label, toUsd(price)])),
    reported: costs(reported.filter(({ expected, highest }) => expected !== null && expected !== highest)),
    reserved: costs(higherCosts(reported)),
  };
}

function endpointPrices(id: string, price: EndpointPrice): (readonly [label: string, price: number])[] {
  if ('perJob' in price) return [[`${id} a job`, price.perJob]];
  if ('perSecond' in price) return [[`${id} a second`, price.perSecond]];
  return Object.entries(price.perPicture).map(([resolution, usd]) => [`${id} at ${resolution}`, usd]);
}

function labelOf({ kind, endpoint, resolution }: Priced): string {
  if (kind === 'route') return 'a route call';
  return kind === 'job' && !resolution ? `${endpoint} a job` : `${endpoint} at ${resolution ?? '1k'}`;
}
