import * as z from 'zod';
import {
  imageEditPrices,
  type MicroDollars,
  toMicroDollars,
  maxPurchaseUsd,
} from '../../../src/contract/micro-dollars.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { describeIssue, parseJsonFile } from '../manifest/json-file.js';

/** A price in US dollars. */
export const usdSchema = () =>
  z.number('is not a number of dollars').nonnegative('is below 0').max(100_000, 'is above 100000');
const byResolutionSchema = () =>
  z.record(z.string().regex(/^[a-z0-9]{1,8}$/, 'is not a resolution such as 1k'), usdSchema());

/** A price per picture, per job or per second, in US dollars. */
export function endpointPriceSchema() {
  const usd = usdSchema();
  return z.union(
    [
      z.strictObject({ usdPerPicture: byResolutionSchema() }),
      z.strictObject({ usdPerJob: usd }),
      z
        .strictObject({
          usdPerSecond: usd,
          reserveSeconds: z
            .number('is not a number of seconds')
            .positive('is not above 0')
            .max(86_400, 'is longer than a day')
            .optional(),
        })
        .refine(
          ({ usdPerSecond, reserveSeconds = 0 }) => usdPerSecond * reserveSeconds <= maxPurchaseUsd,
          'costs more than a purchase may',
        ),
    ],
    'one of {"usdPerPicture": {"1k": 0.1}}, {"usdPerJob": 0.1} and {"usdPerSecond": 0.001, "reserveSeconds": 60} is a price',
  );
}

/** A price file, in US dollars: prices that it does not name keep their defaults. */
export function priceFileSchema() {
  return z.strictObject({
    /** Prices of edits on endpoints that are not named, by resolution. */
    edit: byResolutionSchema().optional(),
    /** By endpoint id: a price per picture, per job, or per second of `executionTime`. */
    endpoints: z.record(z.string(), endpointPriceSchema()).optional(),
    /** One call of a load-balanced route. */
    route: usdSchema().optional(),
  });
}
/** A price file as it is written, with prices in US dollars. */
export type PriceFile = z.infer<ReturnType<typeof priceFileSchema>>;

/** Prices in millionths of a dollar. */
export interface PriceList {
  /** Where the list comes from: `published`, or a file's name. */
  readonly name: string;
  readonly edit: Readonly<Record<string, MicroDollars>>;
  readonly endpoints: ReadonlyMap<string, EndpointPrice>;
  readonly route: MicroDollars | null;
}

export type EndpointPrice =
  | { readonly perPicture: Readonly<Record<string, MicroDollars>> }
  | { readonly perJob: MicroDollars }
  /** `reserveSeconds`: the execution time to reserve money for; without it the price is unknown until the job ends. */
  | { readonly perSecond: number; readonly reserveSeconds?: number };

/** The published prices (spec 8), overridden by those of a price file. */
export function toPriceList(file: PriceFile = {}, name = 'published'): PriceList {
  return {
    name,
    edit: { ...imageEditPrices, ...inMicroDollars(file.edit ?? {}) },
    endpoints: new Map(
      Object.entries(file.endpoints ?? {}).map(([id, price]) => [id, toEndpointPrice(price)]),
    ),
    route: file.route === undefined ? null : toMicroDollars(file.route),
  };
}

/** The resolutions with a price, by the endpoints that have a price per picture. */
export function pictureResolutions({ endpoints }: PriceList): {
  pictures?: Record<string, readonly string[]>;
} {
  const found = [...endpoints].flatMap(([id, price]) =>
    'perPicture' in price ? [[id, Object.keys(price.perPicture)] as const] : [],
  );
  return found.length === 0 ? {} : { pictures: Object.fromEntries(found) };
}

function toEndpointPrice(price: z.infer<ReturnType<typeof endpointPriceSchema>>): EndpointPrice {
  if ('usdPerPicture' in price) return { perPicture: inMicroDollars(price.usdPerPicture) };
  if ('usdPerJob' in price) return { perJob: toMicroDollars(price.usdPerJob) };
  const { usdPerSecond, reserveSeconds } = price;
  // A second may cost less than a millionth of a dollar, so thousandths of a millionth are kept.
  return {
    perSecond: Math.round(usdPerSecond * 1e9) / 1e3,
    ...(reserveSeconds !== undefined && { reserveSeconds }),
  };
}

function inMicroDollars(prices: Readonly<Record<string, number>>): Record<string, MicroDollars> {
  return Object.fromEntries(
    Object.entries(prices).map(([resolution, price]) => [resolution, toMicroDollars(price)]),
  );
}

/**
 * Reads the text of a price file.
 *
 * @throws {MillraceError} `price-file` with every problem and its place.
 */
export function readPriceFile(text: string, name: string): PriceList {
  const parsed = parseJsonFile(text);
  if ('problem' in parsed) throw new MillraceError('price-file', `${name} ${parsed.problem}.`);
  const checked = priceFileSchema().safeParse(parsed.value);
  if (!checked.success) {
    const { issues } = checked.error;
    const problems = issues.map((issue) => describeIssue(issue, name));
    const hasOthers = issues.some(({ code, path }) => code === 'unrecognized_keys' && path.length === 0);
    if (hasOthers)
      problems.push('a price file has the settings "edit", "endpoints" (prices by id) and "route"');
    throw new MillraceError('price-file', problems.join('; '));
  }
  return toPriceList(checked.data, name);
}
