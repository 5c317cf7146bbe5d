import * as z from 'zod';
import { failureCodes, type FailureCode } from '../../../../src/contract/failure-code.js';
import type { Disk } from '../../disk/disk.js';
import { valueOfJson, readLines } from '../../disk/read-file.js';
import { joinQuoted } from '../line-text.js';

const rowKind = z.enum(['edit', 'job', 'route']);
const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));
const count = z.int().min(0);

/** A complete line of results.jsonl or earlier.jsonl. */
export const wholeResult = z.object({
  id: z.string(),
  row: count,
  kind: rowKind,
  endpoint: z.string(),
  jobId: z.string().optional(),
  status: z.literal('completed'),
  output: z.unknown(),
  image: z.record(z.string(), z.unknown()).optional(),
  files: z.array(z.looseObject({ field: z.string() })).optional(),
  cost: z.number().min(0).nullable(),
  delayTime: z.number().optional(),
  executionTime: z.number().optional(),
  attempts: count,
  submittedAt: time,
  settledAt: time,
  request: z.record(z.string(), z.unknown()),
  columns: z.record(z.string(), z.unknown()),
});
export type WholeResult = z.infer<typeof wholeResult>;

/** A complete line of failures.jsonl; its other keys are the row's own columns. */
export const wholeFailure = z.looseObject({
  id: z.string(),
  error: z.looseObject({
    code: z.string().refine((code) => Object.hasOwn(failureCodes, code)),
    message: z.string(),
    detail: z.string().optional(),
    httpStatus: z.number().optional(),
    retryable: z.boolean(),
    paid: z.enum(['yes', 'no', 'maybe']),
  }),
  millrace: z.looseObject({
    row: count,
    kind: rowKind.nullable(),
    endpoint: z.string(),
    jobId: z.string().optional(),
    attempts: count,
    settledAt: time,
  }),
});
export type WholeFailure = z.infer<typeof wholeFailure> & { error: { code: FailureCode } };

/** A complete line of costs.csv. `cost` is in US dollars; `null` if no price is known. */
export interface CostFacts {
  readonly row: number;
  readonly jobId: string;
  readonly endpoint: string;
  readonly resolution: string;
  readonly cost: number | null;
  readonly source: 'reported' | 'estimated' | 'unknown';
  readonly settledAt: number;
}

/** The facts in one line of a run's files about one attempt of a row. */
export type FilePurchase = {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly id: string;
  readonly attempt: number;
} & (
  | { readonly kind: 'result' | 'earlier'; readonly result: WholeResult }
  | { readonly kind: 'failure'; readonly failure: WholeFailure }
  | { readonly kind: 'cost'; readonly cost: CostFacts }
);

/**
 * Every complete line of the run's files, from the given byte offset of each file on. Lines that were edited into
 * something else are skipped.
 */
export async function* filePurchases(
  disk: Disk,
  folder: string,
  from: (name: string) => number,
): AsyncGenerator<FilePurchase, void, void> {
  const readers = {
    'costs.csv': costPurchase,
    'results.jsonl': (text: string) => resultPurchase('result', text),
    'failures.jsonl': failurePurchase,
    'earlier.jsonl': (text: string) => resultPurchase('earlier', text),
  };
  for (const [file, read] of Object.entries(readers)) {
    const lines = numberedLines(disk, `${folder}/${file}`, from(file));
    for await (const { text, line } of lines) {
      const found = read(text);
      if (found !== undefined) yield { ...found, file, line };
    }
  }
}

/** Lines with their numbers in the whole file, counted from 1; reading starts at byte `from`. */
async function* numberedLines(
  disk: Disk,
  path: string,
  from: number,
): AsyncGenerator<{ text: string; line: number }> {
  const size = (await disk.stat(path))?.size ?? 0;
  if (size <= from) return;
  const file = await disk.open(path, 'r');
  try {
    let line = await linesBefore(file, from);
    const lines = (async function* () {
      for await (const { bytes } of readLines(file, { from, to: size })) yield bytes;
    })();
    for await (const bytes of path.endsWith('.csv') ? joinQuoted(lines) : lines) {
      line++;
      yield { text: bytes.toString(), line };
    }
  } finally {
    await file.close();
  }
}

async function linesBefore(file: Parameters<typeof readLines>[0], to: number): Promise<number> {
  let count = 0;
  for await (const { ended } of readLines(file, { to })) count += ended ? 1 : 0;
  return count;
}

type Found<P> = P extends unknown ? Omit<P, 'file' | 'line'> : never;

function resultPurchase(kind: 'result' | 'earlier', text: string): Found<FilePurchase> | undefined {
  const { data } = wholeResult.safeParse(valueOfJson(text));
  return data && { kind, id: data.id, attempt: data.attempts, result: data };
}

function failurePurchase(text: string): Found<FilePurchase> | undefined {
  const { data } = wholeFailure.safeParse(valueOfJson(text));
  if (data === undefined) return undefined;
  return { kind: 'failure', id: data.id, attempt: data.millrace.attempts, failure: data as WholeFailure };
}

function costPurchase(text: string): Found<FilePurchase> | undefined {
  const [
    id = '',
    row = '',
    attempt = '',
    jobId = '',
    endpoint = '',
    resolution = '',
    cost = '',
    source = '',
    at = '',
  ] = csvCells(text);
  const settledAt = Date.parse(at);
  const isWhole = [row, attempt].every((cell) => /^\d{1,9}$/.test(cell)) && !Number.isNaN(settledAt);
  // U+FFFD in an id may stand for a broken character, so it is not known to which row the line belongs.
  if (!isWhole || id.includes('\uFFFD') || !/^(reported|estimated|unknown)$/.test(source)) return undefined;
  const facts = { row: Number(row), jobId, endpoint, resolution, settledAt };
  return {
    kind: 'cost',
    id,
    attempt: Number(attempt),
    cost: { ...facts, cost: cost === '' ? null : Number(cost), source: source as CostFacts['source'] },
  };
}

function csvCells(text: string): string[] {
  const cell = /(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/gy;
  const cells: string[] = [];
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text);
    if (found === null) break;
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
  }
  return cells;
}
