import * as z from 'zod';

/** The body of a load-balanced failure. An `error` that is an object is kept as its JSON text. (spec 7.2) */
export const routeErrorSchema = z.looseObject({
  error: z.preprocess(asText, z.string().min(1)),
  detail: z.preprocess(asText, z.string()).optional().catch(undefined),
});

function asText(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
