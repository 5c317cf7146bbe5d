import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { knownRecord } from '../../batch/journal/rows/scanned-head.js';
import type { Booked } from '../../batch/row/row-after.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { mostText, type Queries, type Transaction } from '../database/transaction.js';
import type { RunLedger } from './run-ledger.js';

export interface NewRecord {
  /** The row's name in the queue. */
  readonly item: string;
  /** As JSON. */
  readonly text: string;
  /** The last record of its row: the row is deleted with it. */
  readonly isLast: boolean;
  /** The money that it adds to the run's sums. */
  readonly booked: Booked;
  /** The part of it that this start has spent on a row whose price is in no list. @defaultValue 0 */
  readonly unlisted?: MicroDollars;
}

export interface StoredRecord {
  /** From 1, without gaps, in the order of the commits. */
  readonly seq: number;
  readonly item: string;
  readonly isLast: boolean;
  readonly record: RowRecord;
}

/** Appends records, and adds their money to the ledger. */
export async function insertRecords(
  on: Transaction,
  run: number,
  ledger: RunLedger,
  records: readonly NewRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const after = ledger.seq;
  ledger.seq += records.length;
  for (const { item, booked } of records) {
    ledger.spent += booked.spent;
    ledger.unknown += booked.unknown;
    ledger.values.add(item, booked.spent + booked.unknown);
  }
  await on.query(
    `insert into millrace.records (run, seq, item, is_last, record)
     select $1, $2::bigint + place, item, is_last, record
     from unnest($3::uuid[], $4::boolean[], $5::text[]) with ordinality as new (item, is_last, record, place)`,
    [
      run,
      after,
      records.map(({ item }) => item),
      records.map(({ isLast }) => isLast),
      records.map(({ text }) => text),
    ],
  );
}

/** However long they are: the collector reads its last record again, and copies an outcome together with the record after it. */
const leastRecords = 3;

/**
 * The next records after number `after`, in their order: at most `most`, and fewer if they are long. An empty page means that there
 * are no more.
 */
export async function readRecordsAfter(
  on: Queries,
  run: number,
  after: number,
  most: number,
): Promise<StoredRecord[]> {
  const { rows } = await on.query<Stored>(
    `select seq::float8, item, is_last as "isLast", record from (
       select *, sum(octet_length(record)) over (order by seq) - octet_length(record) as before
       from (select * from millrace.records where run = $1 and seq > $2 order by seq limit $3) page) sized
     where before < $4 or seq <= $2 + $5 order by seq`,
    [run, after, most, mostText, leastRecords],
  );
  return rows.map(storedRecord);
}

export async function recordsOfItems(
  on: Queries,
  run: number,
  after: number,
  items: readonly string[],
): Promise<StoredRecord[]> {
  const { rows } = await on.query<Stored>(
    `select seq::float8, item, is_last as "isLast", record from millrace.records
     where run = $1 and seq > $2 and item = any($3::uuid[]) order by seq`,
    [run, after, items],
  );
  return rows.map(storedRecord);
}

type Stored = Omit<StoredRecord, 'record'> & { readonly record: string };

function storedRecord({ record, ...stored }: Stored): StoredRecord {
  return { ...stored, record: knownRecord(JSON.parse(record) as RowRecord) };
}
