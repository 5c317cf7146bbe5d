import { lastValueFrom, merge } from 'rxjs';
import type { Journal, RowRecords } from '../../batch/journal/journal.js';
import type { JournalRecord } from '../../batch/journal/record.js';
import { reopenRecord } from '../../batch/row/records-of.js';
import type { FoundRow } from '../store/run-store.js';
import { isKept } from './kept-ending.js';

/**
 * Takes back intents that a dying collector copied without their endings: the database knows those rows, and they are
 * collected once more. Returns whether the journal has changed and must be read again.
 *
 * @param known returns which of the rows the database has
 */
export async function mendTornIntents(
  journal: Journal,
  known: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
  now: () => number,
): Promise<boolean> {
  const torn = [...journal.recovered.pending.values()]
    .filter(({ status }) => status === 'sent')
    .map(({ id }) => id);
  if (torn.length === 0) return false;
  const inDatabase = await known(torn);
  const why = 'copied from the database without its ending; it is copied again';
  const records = torn
    .filter((id) => inDatabase.has(id))
    .map((id): JournalRecord => ({ k: 'refused', at: now(), id, why }));
  if (records.length === 0) return false;
  await lastValueFrom(merge(...records.map((record) => journal.append(record))));
  return true;
}

export interface HeldRowSource {
  /** The states of rows in the database; rows that it does not have are missing. */
  readonly find: (ids: readonly string[]) => Promise<readonly FoundRow[]>;
  /** All endings up to this one are in the journal. */
  readonly collected: number;
  /** Whether this start takes the row up again: then a job id that came late is polled, and nothing is bought. */
  readonly retries: (id: string) => boolean;
  readonly now: () => number;
}

const batchRows = 500;

/**
 * Reopens rows that the journal holds and the database does not: a `settle` died between the two, or the job id of a held
 * purchase came late. Their held money leaves costs.csv. Returns whether the journal has changed and must be read again.
 */
export async function mendHeldRows(
  journal: Pick<Journal, 'rowsIn' | 'append' | 'find' | 'recovered'>,
  mending: HeldRowSource,
): Promise<boolean> {
  const records: JournalRecord[] = [];
  let held: RowRecords[] = [];
  const look = async (): Promise<void> => {
    const found = new Map((await mending.find(held.map(({ id }) => id))).map((row) => [row.id, row]));
    for (const row of held) records.push(...(await recordsFor(journal, row, found.get(row.id), mending)));
    held = [];
  };
  for await (const row of journal.rowsIn(['unknown', 'expired'])) {
    if (row.outcome?.source !== 'unknown' || row.intent === undefined) continue;
    held.push(row);
    if (held.length >= batchRows) await look();
  }
  await look();
  if (records.length === 0) return false;
  await lastValueFrom(merge(...records.map((record) => journal.append(record))));
  return true;
}

async function recordsFor(
  journal: Pick<Journal, 'find' | 'recovered'>,
  row: RowRecords,
  found: FoundRow | undefined,
  { collected, retries, now }: HeldRowSource,
): Promise<JournalRecord[]> {
  // The held purchase is another one, with an intent of its own.
  if (found === undefined || found.attempts !== row.attempts) return [];
  const { place, jobId, lateJobId, ending, seq = 0 } = found;
  const at = now();
  const polled = (id: string | undefined, why: 'settle' | 'retry'): JournalRecord[] => [
    ...(id === undefined ? [] : [{ k: 'accepted', at, id: row.id, jobId: id } as const]),
    reopenRecord(row, { at, why, to: 'poll' }),
  ];
  if (place === 'left') return [reopenRecord(row, { at, why: 'settle', to: 'buy' })];
  if (place === 'accepted' || place === 'saving') return polled(jobId, 'settle');
  if (place !== 'ended' || ending === undefined) return [];
  if (await isKept(journal, row.id, ending))
    return lateJobId !== undefined && retries(row.id) ? polled(lateJobId, 'retry') : [];
  return seq > collected ? polled(jobId, 'settle') : [];
}
