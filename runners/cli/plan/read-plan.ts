import { createHash } from 'node:crypto';
import { nodeDisk, readLines, valueOfJson } from '../../batch/formats.js';
import { UsageError } from '../io/usage-error.js';
import {
  planFootSchema,
  planHeadSchema,
  plannedRowSchema,
  type PlanFoot,
  type PlanHead,
  type PlannedRow,
} from './saved-plan.js';

/** The rows of a plan, in the manifest's order. */
export type PlannedRows = AsyncGenerator<PlannedRow, void, void>;

/** A saved plan. */
export interface SavedPlan {
  /** As the person wrote it, for messages. */
  readonly name: string;
  readonly head: PlanHead;
  readonly foot: PlanFoot;
  /** Read from the file by each call: a plan of a million rows is not kept. */
  rows(): PlannedRows;
}

/** Opens a saved plan. Throws `UsageError` when the file is cut short or was changed. */
export async function readPlan(path: string, name: string): Promise<SavedPlan> {
  const sum = createHash('sha256');
  let first: string | undefined;
  let last = '';
  for await (const line of linesOf(path, name)) {
    if (first === undefined) first = line;
    else sum.update(`${last}\n`);
    last = line;
  }
  const head = planHeadSchema.safeParse(valueOfJson(first ?? '')).data;
  if (head === undefined) throw refused(name, 'is no plan that this millrace has saved');
  const foot = planFootSchema.safeParse(valueOfJson(last)).data;
  if (foot === undefined) throw refused(name, 'is cut short');
  if (foot.lines !== sum.digest('hex')) throw refused(name, 'is not as it was saved');
  return { name, head, foot, rows: () => rowsOf(path, name) };
}

async function* rowsOf(path: string, name: string): PlannedRows {
  for await (const line of linesOf(path, name)) {
    const row = plannedRowSchema.safeParse(valueOfJson(line)).data;
    if (row !== undefined) yield row;
  }
}

async function* linesOf(path: string, name: string): AsyncGenerator<string> {
  const file = await nodeDisk.open(path, 'r').catch((error: unknown) => {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw refused(name, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  });
  try {
    for await (const { bytes } of readLines(file)) yield bytes.toString('utf8');
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
