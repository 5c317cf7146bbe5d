import type { AsyncSubject } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { UnfitRecord } from '../../batch/journal/line/record-line.js';
import type { Booked } from '../../batch/row/row-after.js';
import { headOf, type RowRecord } from '../../batch/row/record-head.js';
import { isEnd, nextStatus } from '../../batch/row/row-status.js';
import type { RowPlace } from '../table/rows.js';

/** A row that a worker has. */
export interface HeldRow extends RowPlace {
  readonly id: string;
  /** Of its last POST. */
  attempt: number;
  /** Its part of the budget; `undefined`: its purchase has ended, and another one has to ask. */
  reserved: MicroDollars | undefined;
  /** Booked by records that the table refused: those that take their places book it. */
  owed?: Booked | undefined;
}

/** A record that is not durable yet. */
export interface WaitingRecord {
  readonly record: RowRecord;
  readonly row: HeldRow;
  readonly text: string;
  /** What it adds to the books of the run. */
  readonly booked: Booked;
  readonly done: AsyncSubject<number>;
}

/** @throws {UnfitRecord} */
export function textOf(record: RowRecord): string {
  try {
    return JSON.stringify(record);
  } catch (cause) {
    throw new UnfitRecord(record, cause);
  }
}

export function plus(one: Booked, other: Booked = { spent: 0, unknown: 0 }): Booked {
  return { spent: one.spent + other.spent, unknown: one.unknown + other.unknown };
}

/**
 * What the last records of the rows in a group lead to: the records that are the last of their rows, the rows that leave the
 * database with them, and those whose purchase has ended and that stay.
 */
export function endsOf(batch: readonly WaitingRecord[], savesPictures: boolean) {
  const lastOf = new Map(batch.map((one) => [one.row, one] as const));
  const last = new Set<WaitingRecord>();
  const freed = new Set<HeldRow>();
  for (const one of batch) {
    const status = nextStatus('open', headOf(one.record));
    const isOver = isEnd(status) || (status === 'replied' && !savesPictures);
    if (isOver && lastOf.get(one.row) === one) last.add(one);
    if (isEnd(status) || status === 'replied') freed.add(one.row);
  }
  const ended = new Set([...last].map(({ row }) => row));
  for (const row of ended) freed.delete(row);
  return { last, ended, freed: [...freed] };
}
