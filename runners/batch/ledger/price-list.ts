import { z } from 'zod';
import { imageEditPrices } from '../../../src/contract/price-list.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';

const usd = z.number().nonnegative().max(100_000);
const byResolution = z.record(z.string().regex(/^[a-z0-9]{1,8}$/, 'a resolution such as 1k'), usd);

const endpointPrice = z.union([
  z.strictObject({ perPicture: byResolution }),
  z.strictObject({ perJob: usd }),
  z.strictObject({ perSecond: usd, reserveSeconds: z.number().positive().max(86_400).optional() }),
]);

/** A price file, in US dollars: what is not named keeps its default. */
export const priceFileSchema = z.strictObject({
  /** Edits on endpoints that are not named. */
  edit: byResolution.optional(),
  /** By endpoint id. */
  endpoints: z.record(z.string(), endpointPrice).optional(),
  /** One call of a load-balanced route. */
  route: usd.optional(),
});
export type PriceFile = z.infer<typeof priceFileSchema>;

/** Prices in millionths of a dollar. */
export interface PriceList {
  readonly edit: Readonly<Record<string, MicroDollars>>;
  readonly endpoints: ReadonlyMap<string, EndpointPrice>;
  readonly route: MicroDollars | null;
}

export type EndpointPrice =
  | { readonly perPicture: Readonly<Record<string, MicroDollars>> }
  | { readonly perJob: MicroDollars }
  /** `reserveSeconds`: the execution time that is reserved for; without it the price is unknown before the end. */
  | { readonly perSecond: MicroDollars; readonly reserveSeconds?: number };

/** The published prices (spec 8), with those of a price file over them. */
export function toPriceList(file: PriceFile = {}): PriceList {
  return {
    edit: { ...imageEditPrices, ...inMicroDollars(file.edit ?? {}) },
    endpoints: new Map(
      Object.entries(file.endpoints ?? {}).map(([id, price]) => [id, toEndpointPrice(price)]),
    ),
    route: file.route === undefined ? null : toMicroDollars(file.route),
  };
}

function toEndpointPrice(price: z.infer<typeof endpointPrice>): EndpointPrice {
  if ('perPicture' in price) return { perPicture: inMicroDollars(price.perPicture) };
  if ('perJob' in price) return { perJob: toMicroDollars(price.perJob) };
  const perSecond = toMicroDollars(price.perSecond);
  return price.reserveSeconds === undefined
    ? { perSecond }
    : { perSecond, reserveSeconds: price.reserveSeconds };
}

function inMicroDollars(prices: Readonly<Record<string, number>>): Record<string, MicroDollars> {
  return Object.fromEntries(
    Object.entries(prices).map(([resolution, price]) => [resolution, toMicroDollars(price)]),
  );
}
