import type { AsyncSubject } from 'rxjs';
import { UnfitRecord } from '../../batch/journal/line/record-line.js';
import type { Booked } from '../../batch/row/row-after.js';
import { headOf, type RowRecord } from '../../batch/row/record-head.js';
import { isEnd, nextStatus } from '../../batch/row/row-status.js';

/** A record that is not durable yet. */
export interface WaitingRecord {
  readonly record: RowRecord;
  /** Of its row. */
  readonly item: string;
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

export function emit({ done }: WaitingRecord, number: number): void {
  done.next(number);
  done.complete();
}

/** What they add to the books of the run. */
export function sumOf(batch: readonly WaitingRecord[]): Booked {
  return batch.reduce<Booked>((sum, { booked }) => plus(sum, booked), { spent: 0, unknown: 0 });
}

export function plus(one: Booked, other: Booked = { spent: 0, unknown: 0 }): Booked {
  return { spent: one.spent + other.spent, unknown: one.unknown + other.unknown };
}

/**
 * What the last records of the rows in a group lead to: the records that are the last of their rows, the rows that leave the
 * database with them, and those whose purchase has ended and that stay.
 */
export function endsOf(batch: readonly WaitingRecord[], savesPictures: boolean) {
  const lastOf = new Map(batch.map((one) => [one.item, one] as const));
  const last = new Set<WaitingRecord>();
  const freed = new Set<string>();
  for (const one of batch) {
    const status = nextStatus('open', headOf(one.record));
    const isOver = isEnd(status) || (status === 'replied' && !savesPictures);
    if (isOver && lastOf.get(one.item) === one) last.add(one);
    if (isEnd(status) || status === 'replied') freed.add(one.item);
  }
  const ended = [...last].map(({ item }) => item);
  for (const item of ended) freed.delete(item);
  return { last, ended, freed: [...freed] };
}
