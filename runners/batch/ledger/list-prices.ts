import { toUsd } from '../../../src/contract/micro-dollars.js';
import type { Priced, PriceTable } from './price-book.js';
import type { EndpointPrice } from './price-list.js';

/** A price table for people and for files, in USD. */
export interface ListedPrices {
  /** `published`, or the file that it was read from. */
  readonly name: string;
  /** What was reckoned with, by what it is a price of: `1k`, `mine at 2k`, `upscale a second`, `upscale a job`, `a route call`, `assumed`. */
  readonly prices: Readonly<Record<string, number>>;
  /** The highest price reported, where it is not the one reckoned with. */
  readonly reported: Readonly<Record<string, number>>;
}

/** The prices that a run goes by. */
export function listPrices({ book, reported, assumed }: PriceTable): ListedPrices {
  const endpoints = [...book.endpoints].flatMap(([id, price]) => endpointPrices(id, price));
  const entries = [
    ...Object.entries(book.edit),
    ...endpoints,
    ...(book.route === null ? [] : [['a route call', book.route] as const]),
    ...(assumed === undefined ? [] : [['assumed', assumed] as const]),
  ];
  const others = reported.filter(({ expected, highest }) => expected !== null && expected !== highest);
  return {
    name: book.name,
    prices: Object.fromEntries(entries.map(([label, price]) => [label, toUsd(price)])),
    reported: Object.fromEntries(others.map(({ highest, ...row }) => [labelOf(row), toUsd(highest)])),
  };
}

function endpointPrices(id: string, price: EndpointPrice): (readonly [label: string, price: number])[] {
  if ('perJob' in price) return [[`${id} a job`, price.perJob]];
  if ('perSecond' in price) return [[`${id} a second`, price.perSecond]];
  return Object.entries(price.perPicture).map(([resolution, usd]) => [`${id} at ${resolution}`, usd]);
}

function labelOf({ kind, endpoint, resolution }: Priced): string {
  if (kind === 'route') return 'a route call';
  return kind === 'edit' ? `${endpoint} at ${resolution ?? '1k'}` : `${endpoint} a job`;
}
