import * as z from 'zod';
import { checkEndpointId } from '../../../src/contract/request-parts.js';
import {
  endpointPriceSchema,
  usdSchema,
  toPriceList,
  type ManifestSettings,
  type PriceList,
  createPriceBook,
  readPriceFile,
  type PriceBook,
} from '../../batch/formats.js';
import { parseHost } from './parse-value.js';
import { refuse } from './single-value.js';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { UsageError } from '../io/usage-error.js';

/** An endpoint of a configuration file, with its name there. */
export function endpointSchema() {
  return z.strictObject({
    /** @defaultValue the name */
    id: z
      .string()
      .refine((id) => checkEndpointId(id) === undefined, 'is not an endpoint id')
      .optional(),
    /** Client timeout of /runsync, in ms. (spec 8) */
    execution_timeout_ms: z
      .number('is not a number of milliseconds')
      .positive('is not above 0')
      .max(86_400_000, 'is longer than a day')
      .optional(),
    /** Host of a load-balanced endpoint. */
    lb_base_url: z.string().transform(toHost).optional(),
    mode: z.enum(['sync', 'async'], 'is neither "sync" nor "async"').optional(),
    /** In USD: the price of a job or a picture, or prices as in a price file. */
    price: z
      .union([usdSchema(), endpointPriceSchema()], 'is not a price: write a number of dollars')
      .transform((price) => (typeof price === 'number' ? { usdPerJob: price } : price))
      .optional(),
  });
}
export type ConfiguredEndpoint = z.output<ReturnType<typeof endpointSchema>>;

/** By their names in the configuration. */
export type ConfiguredEndpoints = Readonly<Record<string, ConfiguredEndpoint>>;

function toHost(given: string, context: z.RefinementCtx): string {
  const parsed = parseHost(given);
  return 'value' in parsed ? parsed.value : refuse(context, parsed.problem);
}

export function namedEndpoints(endpoints: ConfiguredEndpoints): NonNullable<ManifestSettings['endpoints']> {
  return Object.fromEntries(
    Object.entries(endpoints).map(([name, { id = name, mode }]) => [name, { id, ...(mode && { mode }) }]),
  );
}

/** The client timeouts of /runsync that are set, by endpoint id, in ms. */
export function executionTimeouts(endpoints: ConfiguredEndpoints): Record<string, number> {
  return Object.fromEntries(valuesById(endpoints, 'execution_timeout_ms'));
}

/** Adds the prices of the configuration to a price list. The list's own prices win. */
function withEndpointPrices(list: PriceList, endpoints: ConfiguredEndpoints): PriceList {
  const prices = valuesById(endpoints, 'price');
  if (prices.size === 0) return list;
  const configured = toPriceList({ endpoints: Object.fromEntries(prices) });
  return {
    ...list,
    name: `${list.name}, configuration`,
    endpoints: new Map([...configured.endpoints, ...list.endpoints]),
  };
}

/** A setting of the endpoints, by their ids. Throws `UsageError` if two names of one endpoint have different values. */
function valuesById<K extends 'execution_timeout_ms' | 'price'>(
  endpoints: ConfiguredEndpoints,
  setting: K,
): Map<string, NonNullable<ConfiguredEndpoint[K]>> {
  const values = new Map<string, NonNullable<ConfiguredEndpoint[K]>>();
  const names = new Map<string, string>();
  for (const [name, { id = name, [setting]: value }] of Object.entries(endpoints)) {
    if (value === undefined) continue;
    const before = names.get(id);
    if (before !== undefined && JSON.stringify(values.get(id)) !== JSON.stringify(value))
      throw new UsageError([
        `endpoints: ${before} and ${name} are one endpoint, ${id}, and have different values of ${setting}: leave one of them`,
      ]);
    values.set(id, value);
    names.set(id, name);
  }
  return values;
}

/**
 * The prices of `--prices FILE`, then those of the configuration, then the published ones. Throws `UsageError` if the file
 * cannot be read or used.
 */
export async function readPrices(
  file: string | undefined,
  cwd: string,
  endpoints: ConfiguredEndpoints = {},
): Promise<PriceBook> {
  if (file === undefined) return createPriceBook(withEndpointPrices(toPriceList(), endpoints));
  const text = await readFile(resolve(cwd, file), 'utf8').catch((error: unknown) => {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new UsageError([`--prices: "${file}" cannot be read (${code})`]);
  });
  try {
    return createPriceBook(withEndpointPrices(readPriceFile(text, file), endpoints));
  } catch (error) {
    if (isMillraceError(error)) throw new UsageError([`--prices: ${error.message}`]);
    throw error;
  }
}
