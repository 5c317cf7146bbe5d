import * as z from 'zod';
import { checkEndpointId } from '../../../src/contract/request-parts.js';
import { endpointPriceSchema } from '../../batch/ledger/price-list.js';
import { parseHost } from '../options/parse-host.js';

/** What a configuration says of one endpoint, under a name of its own. */
export const configuredEndpointSchema = z.strictObject({
  /** @defaultValue the name */
  id: z
    .string()
    .refine((id) => checkEndpointId(id) === undefined, 'is no endpoint id')
    .optional(),
  /** Client timeout of /runsync, in ms. (spec 8) */
  execution_timeout_ms: z.number().positive().max(86_400_000).optional(),
  /** Host of a load-balanced endpoint. */
  lb_base_url: z.string().transform(toHost).optional(),
  mode: z.enum(['sync', 'async']).optional(),
  /** In USD: of a job or a picture, or as in a price file. */
  price: z
    .union(
      [z.number().nonnegative().max(100_000), endpointPriceSchema],
      'is no price: a number of dollars is',
    )
    .transform((price) => (typeof price === 'number' ? { usdPerJob: price } : price))
    .optional(),
});
export type ConfiguredEndpoint = z.output<typeof configuredEndpointSchema>;

/** By the name that the configuration gives it. */
export type ConfiguredEndpoints = Readonly<Record<string, ConfiguredEndpoint>>;

function toHost(given: string, context: z.RefinementCtx): string {
  const parsed = parseHost(given);
  if ('value' in parsed) return parsed.value;
  context.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
}
