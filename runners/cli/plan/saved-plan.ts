import * as z from 'zod';
import {
  isBought,
  type ManifestItem,
  type PriceBook,
  nodeDisk,
  readLines,
  valueOfJson,
} from '../../batch/formats.js';
import { createHash } from 'node:crypto';
import { UsageError } from '../io/usage-error.js';

/** The first line of a saved plan: its manifest and its options. */
function planHeadSchema() {
  return z.object({
    millrace: z.literal('plan'),
    version: z.literal(1),
    madeAt: z.string(),
    manifest: z.object({
      name: z.string(),
      /** Absolute; `null` for stdin. */
      path: z.string().nullable(),
      format: z.enum(['csv', 'jsonl']),
    }),
    /** The absolute path of the run's folder, if the plan named one: rows that the run has bought are not planned again. */
    out: z.string().optional(),
    /** The price file, absolute, if there was one: a start by the plan reckons with it, and finds where it has changed since. */
    prices: z.string().optional(),
    /** The caps that were given with the plan: they hold for a start by it that gives no others. */
    caps: z.record(z.string(), z.json()).optional(),
    /** The options in force that decide what is sent, where and at what price. */
    options: z.record(z.string(), z.json()),
  });
}

/** One line for each row to be done, in the manifest's order. */
function plannedRowSchema() {
  return z.object({
    id: z.string(),
    row: z.int(),
    /** The hash of the request and its endpoint. Empty for an invalid row, which is not sent. */
    hash: z.string(),
    /** In millionths of a dollar; `null` if not known; 0 if nothing is bought. */
    price: z.int().nullable(),
  });
}

/** The last line; a plan without it is incomplete. */
function planFootSchema() {
  return z.object({
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
}

export type PlanHead = z.output<ReturnType<typeof planHeadSchema>>;
export type PlannedRow = z.output<ReturnType<typeof plannedRowSchema>>;
export type PlanFoot = z.output<ReturnType<typeof planFootSchema>>;

/** The facts of a row that a start from the plan must have as well. */
export function plannedRow({ valid, row }: ManifestItem, prices: PriceBook): PlannedRow {
  if (!valid) return { id: row.key, row: row.row, hash: '', price: 0 };
  return { id: row.id, row: row.row, hash: row.hash, price: isBought(row) ? prices.priceOf(row) : 0 };
}

/** The rows of a plan, in the manifest's order. */
export type PlannedRows = AsyncGenerator<PlannedRow, void, void>;

export interface SavedPlan {
  /** The path as given, for messages. */
  readonly name: string;
  readonly head: PlanHead;
  readonly foot: PlanFoot;
  /** Each call reads the file, because a plan may have a million rows. */
  rows(): PlannedRows;
}

/** Opens a saved plan. Throws `UsageError` if the file is incomplete or was changed. */
export async function readPlan(path: string, name: string): Promise<SavedPlan> {
  const sum = createHash('sha256');
  let first: string | undefined;
  let last = '';
  for await (const line of linesOf(path, name)) {
    if (first === undefined) first = line;
    else sum.update(`${last}\n`);
    last = line;
  }
  const head = planHeadSchema().safeParse(valueOfJson(first ?? '')).data;
  if (head === undefined) throw refused(name, 'is not a plan that this millrace has saved');
  const foot = planFootSchema().safeParse(valueOfJson(last)).data;
  if (foot === undefined) throw refused(name, 'is cut short');
  if (foot.lines !== sum.digest('hex')) throw refused(name, 'is not as it was saved');
  return { name, head, foot, rows: () => rowsOf(path, name) };
}

async function* rowsOf(path: string, name: string): PlannedRows {
  const schema = plannedRowSchema();
  for await (const line of linesOf(path, name)) {
    const row = schema.safeParse(valueOfJson(line)).data;
    if (row !== undefined) yield row;
  }
}

async function* linesOf(path: string, name: string): AsyncGenerator<string> {
  const unreadable = (error: unknown): never => {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw refused(name, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  };
  const file = await nodeDisk.open(path, 'r').catch(unreadable);
  try {
    for await (const { bytes } of readLines(file)) yield bytes.toString('utf8');
  } catch (error) {
    // A folder can be opened, and not read.
    unreadable(error);
  } finally {
    await file.close();
  }
}

function refused(name: string, why: string): UsageError {
  return new UsageError(
    [`--plan: "${name}" ${why}: nothing was sent`],
    'make it anew: millrace plan <manifest> --save FILE',
  );
}
