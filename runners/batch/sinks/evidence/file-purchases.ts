import * as z from 'zod';
import { failureCodes, type FailureCode } from '../../../../src/contract/failure-code.js';
import type { Disk } from '../../disk/disk.js';
import { valueOfJson, readLines } from '../../disk/read-file.js';
import { joinQuoted } from '../line-text.js';

const rowKind = z.enum(['edit', 'job', 'route']);
const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));
const count = z.int().min(0);

/** A line of results.jsonl or earlier.jsonl that is whole. */
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

/** A line of failures.jsonl that is whole; its other keys are the row's own columns. */
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

/** A line of costs.csv that is whole. `cost` in USD; `null`: no price is known. */
export interface CostFacts {
  readonly row: number;
  readonly jobId: string;
  readonly endpoint: string;
  readonly resolution: string;
  readonly cost: number | null;
  readonly source: 'reported' | 'estimated' | 'unknown';
  readonly settledAt: number;
}

/** The facts of one line of a run's files about a row and its attempt. */
export type FilePurchase = {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly id: string;
  readonly attempt: number;
} & (
  | { readonly kind: 'result' | 'earlier'; readonly result: WholeResult }
  | { readonly kind: 'failure'; readonly failure: WholeFailure }
  | { readonly kind: 'cost'; readonly cost: CostFacts }
);

/** Every line of the run's files that is whole, from the given byte of each file on. Lines that were edited into something else are passed over. */
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

/** Numbered from the beginning of what is read; line 1 is the file's first one where all of it is read. */
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
  // Half a character stands as U+FFFD in a file: whose line it is cannot be known.
  if (!isWhole || id.includes('\uFFFD') || !/^(reported|estimated|unknown)$/.test(source)) return undefined;
  const facts = { row: Number(row), jobId, endpoint, resolution, settledAt };
  return {
    ...{ kind: 'cost', id, attempt: Number(attempt) },
    cost: { ...facts, cost: cost === '' ? null : Number(cost), source: source as CostFacts['source'] },
  };
}

/** The cells of one CSV record. */
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
