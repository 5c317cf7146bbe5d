import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Journal, RowRecords } from '../journal/journal.js';
import type { JournalRecord, OutcomeRecord } from '../journal/record.js';
import type { OpenFolder } from '../start/open-folder.js';
import { unknownOutcome } from '../start/recover-sent.js';
import type { Written } from './settlement-records.js';

/**
 * A settlement by `--not-sent` or `--job` that no start has acted on is taken back: the row is held again as it was.
 *
 * @throws {MillraceError} `usage` where the row was not settled so, or has gone on since
 */
export async function undone(folder: OpenFolder, row: RowRecords): Promise<Written> {
  const name = `row ${JSON.stringify(row.id)}`;
  const last = await lastRecord(folder.journal.journal, row.id);
  if (last?.k === 'outcome' && row.status === 'expired')
    throw usage(`${name}: a cost that was written down stays written down, and cannot be taken back`);
  if (!isByHand(last))
    throw usage(`${name} was not settled, or has gone on since: nothing can be taken back`);
  const at = folder.scheduler.now();
  const held = heldOutcome(row, at);
  if (held === undefined) throw usage(`${name}: what was held for it is not known any more`);
  return { records: [held], toDo: -1 };
}

/** What a settlement leaves as a row's last record. */
function isByHand(record: JournalRecord | undefined): boolean {
  if (record?.k === 'reopen') return record.why === 'settle';
  return record?.k === 'refused' && record.why.startsWith('settled by hand');
}

async function lastRecord(journal: Pick<Journal, 'records'>, id: string): Promise<JournalRecord | undefined> {
  let last: JournalRecord | undefined;
  for await (const record of journal.records()) if ('id' in record && record.id === id) last = record;
  return last;
}

/** Its status calls are counted already. */
function heldOutcome({ outcome, intent, attempts, id }: RowRecords, at: number): OutcomeRecord | undefined {
  if (outcome !== undefined && outcome.purchase?.attempt === attempts)
    return { ...outcome, at, statusCalls: 0 };
  return intent && unknownOutcome({ id, intent, attempts, price: intent.price }, at);
}

function usage(problem: string): MillraceError {
  return new MillraceError('usage', problem);
}
