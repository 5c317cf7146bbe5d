import * as z from 'zod';
import { isBought, type ManifestItem, type PriceBook } from '../../batch/formats.js';

/** The first line of a saved plan: what it was made of, and how. */
export const planHeadSchema = z.object({
  millrace: z.literal('plan'),
  version: z.literal(1),
  madeAt: z.string(),
  manifest: z.object({
    name: z.string(),
    /** Absolute; `null` for stdin. */
    path: z.string().nullable(),
    format: z.enum(['csv', 'jsonl']),
  }),
  /** The options that say what is sent, where and at what price, as they were in force. */
  options: z.record(z.string(), z.json()),
});

/** One line for each row to be done, in the manifest's order. */
export const plannedRowSchema = z.object({
  id: z.string(),
  row: z.int(),
  /** The hash of the request and its endpoint. Empty for an invalid row, which is not sent. */
  hash: z.string(),
  /** In millionths of a dollar; `null`: not known. 0 where nothing is bought. */
  price: z.int().nullable(),
});

/** The last line: a plan without it is cut short. */
export const planFootSchema = z.object({
  rows: z.int(),
  invalid: z.int(),
  /** SHA-256 of the manifest's bytes. */
  manifest: z.string(),
  /** In millionths of a dollar. */
  estimated: z.int(),
  unpriced: z.int(),
  /** SHA-256 of the lines before this one. */
  lines: z.string(),
});

export type PlanHead = z.output<typeof planHeadSchema>;
export type PlannedRow = z.output<typeof plannedRowSchema>;
export type PlanFoot = z.output<typeof planFootSchema>;

/** What must be the same in a start by the plan. */
export function plannedRow({ valid, row }: ManifestItem, prices: PriceBook): PlannedRow {
  if (!valid) return { id: row.key, row: row.row, hash: '', price: 0 };
  return { id: row.id, row: row.row, hash: row.hash, price: isBought(row) ? prices.priceOf(row) : 0 };
}
