import { recordsOfSent, isFree, isUnanswered, reservedRows } from '../row/left-rows.js';
import { appendAll, type PendingRow, type Journal } from '../journal/journal.js';
import type { JournalRecord } from '../journal/record.js';
import type { Checked } from './check/check-manifest.js';
import type { JournalWriter } from '../context/journal-writer.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import type { RecoveredSent, ReopenedRows } from '../context/run.js';
import type { Ledger } from '../ledger/ledger.js';
import { costByInForce } from '../row/totals.js';
import { takenByValue } from '../row/value-costs.js';
import type { CapInForce } from './money/cap-in-force.js';

interface Recovering {
  readonly options: ResolvedOptions;
  readonly journal: JournalWriter;
}

/**
 * Ends rows whose request was not answered before the last start ended as `unknown`, which holds them. With `onUnknown:
 * 'retry'` those of the manifest are sent again. Rows that cost nothing are simply done again.
 */
export async function recoverSent(context: Recovering, checked: Checked): Promise<RecoveredSent> {
  const { options, journal } = context;
  const { pending, rows } = journal.journal.recovered;
  const held: RecoveredSent['held'][number][] = [];
  const records: JournalRecord[] = [];
  const left = new Map<string, 'open' | 'unknown'>();
  let doubled = 0;
  for (const row of pending.values()) {
    if (!isUnanswered(row)) continue;
    left.set(row.id, 'open');
    if (isFree(row)) continue;
    const isDoubled = isSentAgain(row, context, checked);
    const ended = recordsOfSent(row, options.scheduler.now(), isDoubled);
    records.push(...ended);
    if (isDoubled) {
      doubled++;
    } else {
      left.set(row.id, 'unknown');
      held.push({ id: row.id, row: row.intent.row, outcome: ended[0] });
    }
  }
  await appendAll(journal, records);
  for (const [id, status] of left) rows.set(id, { status });
  return { held, doubled };
}

/** Rows that `mustHold` covers are not sent again without `--retry unknown`: a later purchase may be among the lost records. */
function isSentAgain(
  { id, intent }: PendingRow,
  { options, journal }: Recovering,
  checked: Checked,
): boolean {
  const isLost = journal.journal.recovered.mustHold(id, intent.row) && !options.retry.has('unknown');
  return (
    options.onUnknown === 'retry' &&
    !isLost &&
    checked.pending.has(id) &&
    !checked.pendingHeld.has(id) &&
    options.only?.has({ id, columns: intent.columns }) !== false
  );
}

/** The ledger with the reservations of earlier starts. A row that is polled again becomes reserved instead of unknown. */
export function ledgerOf(
  options: ResolvedOptions,
  { recovered }: Journal,
  polled: ReopenedRows['polled'],
  cap: CapInForce | undefined,
): Ledger {
  const { spent, unknown } = recovered.totals;
  const { capsUsd } = costByInForce(options, recovered.costBy);
  const pending = reservedRows(recovered);
  const again = [...polled.values()].reduce<number>((sum, { price }) => sum + (price ?? 0), 0);
  const reservedAgain = [...polled].map(([id, { price, intent }]) => [id, price, intent] as const);
  const ledger = options.ledger({
    spent: spent.reported + spent.estimated,
    unknown: unknown - again,
    reserved: [...pending.map(({ id, price, intent }) => [id, price, intent] as const), ...reservedAgain],
    ...(Object.keys(capsUsd).length > 0 && {
      byValue: { capsUsd, taken: takenByValue(recovered.tally) },
    }),
    ...(cap && { capUsd: cap.usd }),
  });
  for (const row of pending) if (isUnanswered(row)) ledger.keepUnknown(row.id);
  return ledger;
}
