import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import { appendAll, type RowRecords } from '../journal/journal.js';
import type { IntentRecord, RecordOf } from '../journal/record.js';
import { rowsForFiles } from './files-asked.js';
import { rowsUnderCaps } from './money/cap-in-force.js';
import { costByInForce } from '../row/totals.js';
import type { Checked } from './check/check-manifest.js';
import { rowPrice } from '../ledger/price-book.js';
import { asSelected, isPolledOnceMore, isDoubled, isRetried } from '../row/left-rows.js';
import { decideRow, rulesOf } from '../row/decide-row.js';
import type { JournalWriter } from '../context/journal-writer.js';
import { KnownIds, readRows } from '../tasks/read-rows.js';
import type { ReopenedRows } from '../context/run.js';
import { byPriority } from '../manifest/columns/row-priority.js';
import { reopenRecord } from '../row/records-of.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import { SelectRows } from '../manifest/rows/row-selection.js';

interface ReopeningParts {
  readonly options: ResolvedOptions;
  readonly journal: JournalWriter;
}

/**
 * Reopens failed rows and rows to be redone, in the journal, before any of them is sent. The next `catchUp` removes their lines
 * from failures.jsonl. Invalid rows that are no longer in the manifest are reopened too.
 */
export async function reopenRows(context: ReopeningParts, checked: Checked): Promise<ReopenedRows> {
  const { ahead, invalid } = checked;
  const batch = new Reopenings(context);
  const polled = new Map<
    string,
    { readonly price: MicroDollars | null; readonly intent: IntentRecord | undefined }
  >();
  let downloaded = 0;
  for await (const row of endedRows(context, ['deadline', 'download'])) {
    const isPicture = row.status === 'download';
    if (isPicture) downloaded++;
    else polled.set(row.id, heldAgain(row));
    await batch.add(row, isPicture ? 'download' : 'poll');
  }
  const forFiles = await reopenForFiles(context, batch);
  for await (const row of context.journal.journal.rowsIn(['expired'])) {
    if (!isPolledOnceMore(row, context.options)) continue;
    polled.set(row.id, heldAgain(row));
    await batch.add(row, 'poll');
  }
  const isWhole = context.options.manifest.live === undefined;
  const { rows } = context.journal.journal.recovered.totals;
  if (isWhole && rows.get('invalid-row') !== invalid.size) await forgetInvalid(context, invalid, batch);
  const isReopening = ahead.retried + ahead.redone + invalid.size > 0;
  const kept = isReopening ? await reopenSent(context, checked, batch) : 0;
  await batch.flush();
  return { polled, downloaded: downloaded + (forFiles?.rows ?? 0), kept, ...(forFiles && { forFiles }) };
}

async function reopenForFiles(
  { options, journal }: ReopeningParts,
  batch: Reopenings,
): Promise<ReopenedRows['forFiles']> {
  const lacks = rowsForFiles(options, journal.journal.recovered);
  if (lacks === undefined) return undefined;
  let rows = 0;
  for await (const row of journal.journal.rowsIn(['completed'])) {
    if (!lacks(row)) continue;
    rows++;
    await batch.add(row, 'download', 'refetch');
  }
  return { rows, lacks };
}

/** The price to reserve for a row whose job is polled once more. */
function heldAgain({ intent, outcome }: RowRecords) {
  return { intent, price: outcome?.source === 'unknown' ? outcome.cost : 0 };
}

async function* endedRows(
  { options, journal }: ReopeningParts,
  codes: readonly FailureCode[],
): AsyncGenerator<RowRecords> {
  const wanted = codes.filter((code) => options.retry.has(code));
  if (wanted.length === 0) return;
  for await (const row of journal.journal.rowsIn(wanted)) {
    if (isRetried(row.status as FailureCode, asSelected(row), options)) yield row;
  }
}

async function forgetInvalid(
  { journal }: ReopeningParts,
  known: Checked['invalid'],
  batch: Reopenings,
): Promise<void> {
  for await (const row of journal.journal.rowsIn(['invalid-row'])) {
    if (known.get(row.id) === undefined) await batch.add(row, 'buy');
  }
}

/**
 * Reopens the rows to be sent again in a separate pass over the manifest, so that a million ids need not be kept. A row to be
 * redone is reopened only if it fits under the caps, as the check has counted. Returns how many do not fit.
 */
async function reopenSent(
  { options, journal }: ReopeningParts,
  { pending, ahead, plan }: Checked,
  batch: Reopenings,
): Promise<number> {
  let kept = 0;
  const costBy = costByInForce(options, journal.journal.recovered.costBy);
  const fitting = rowsUnderCaps(ahead.cap, costBy, journal.journal.recovered);
  const { recovered } = journal.journal;
  const rules = rulesOf(options, recovered);
  const select = new SelectRows(options);
  const read = () => readRows(options.disk, options.manifest, new KnownIds(recovered.rows));
  for await (const item of byPriority(plan.priorities, read)) {
    if (!item.valid) continue;
    const { row } = item;
    if (pending.has(row.id)) {
      if (isDoubled(row, recovered.rows.get(row.id), options))
        fitting.add(rowPrice(row, options.prices), row);
      continue;
    }
    const task = decideRow(row, recovered.rows.get(row.id), rules);
    if (task === undefined || !select.takes(row)) continue;
    const fits = task.what !== 'send' || fitting.add(rowPrice(row, options.prices), row);
    if (!('reopen' in task)) continue;
    if (task.reopen === 'redo' && !fits) {
      kept++;
      continue;
    }
    const found = await journal.journal.find(row.id);
    if (found === undefined) recovered.rows.set(row.id, { status: 'open' });
    else await batch.add(found, 'buy', task.reopen);
  }
  return kept;
}

const batchSize = 500;

/** Appends many records at a time, so that one sync is enough for them all. */
class Reopenings {
  private waiting: RecordOf<'reopen'>[] = [];

  constructor(private readonly context: ReopeningParts) {}

  async add(
    row: RowRecords,
    to: 'poll' | 'download' | 'buy',
    why: 'retry' | 'redo' | 'refetch' = 'retry',
  ): Promise<void> {
    const at = this.context.options.scheduler.now();
    this.waiting.push(reopenRecord(row, { at, why, to }));
    if (this.waiting.length >= batchSize) await this.flush();
  }

  async flush(): Promise<void> {
    const records = this.waiting;
    this.waiting = [];
    const { journal } = this.context;
    await appendAll(journal, records);
    for (const { id, to } of records)
      if (to === 'buy') journal.journal.recovered.rows.set(id, { status: 'open' });
  }
}
