import { createHash } from 'node:crypto';
import type { SimulatedRow } from './rows.js';

/** A job of the service. */
export interface Job {
  readonly id: string;
  readonly row: SimulatedRow;
  /** What was sent; the output has it again, so that each answer can be held against its row. */
  readonly echo: unknown;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly retentionMs: number;
  /** Polls before then answer 404. */
  readonly hiddenUntil: number;
  /** A poll after its retention was answered with 404. */
  forgotten: boolean;
  /** The run has its id for good: it is in the journal before the first poll. */
  wasPolled: boolean;
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Each row has a picture of its own. */
export function pictureOf(id: string): Buffer {
  return Buffer.concat([png, createHash('sha256').update(id).digest()]);
}

export interface LastReply {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
  readonly output?: object;
}

/** The last reply to a poll of it; `costUsd` in place of its true cost. */
export function endOf({ id, row, echo, startsAt, endsAt }: Job, costUsd = row.cost / 1e6): LastReply {
  // A job whose reference cannot be read is begun too where the answer to its POST is lost.
  if (row.end !== 'completed') return { id, status: 'FAILED', error: `out of memory: ${row.id}` };
  const times = { delayTime: 20, executionTime: Math.round(endsAt - startsAt) };
  const cost = row.reportsCost ? { cost: costUsd } : {};
  const picture = row.base64
    ? { image: pictureOf(row.id).toString('base64') }
    : { image_url: `http://pictures.test/${row.id}.png` };
  const output = row.kind === 'edit' ? { echo, ...picture, ...cost } : { echo, ...cost };
  return { id, status: 'COMPLETED', ...times, output };
}
