import { concatMap, defer, last, merge, of, type Observable } from 'rxjs';
import type { IntentRecord, JournalRecord, OutcomeRecord, ReplyRecord } from '../journal/record.js';
import type { EndedRow } from '../sinks/ended-row.js';
import { delivered } from './delivered.js';
import type { Run } from '../context/run.js';
import { stopCauses } from '../stop/stop-causes.js';

/** How a row ended, as the journal is told. */
export interface Ending {
  readonly intent?: IntentRecord | undefined;
  readonly reply?: ReplyRecord | undefined;
  readonly outcome: OutcomeRecord;
  /** Records that go before the outcome, in the same group. */
  readonly before?: readonly JournalRecord[];
  readonly row: number;
}

/**
 * The outcome, durable, then the row's lines: the end of a row. What is awaited first is the journal; lines that cannot
 * be written stop the run, and are written by the next start.
 */
export function endRow(run: Run, ending: Ending): Observable<EndedRow> {
  const { intent, reply, outcome, before = [] } = ending;
  const ended: EndedRow = { intent, reply, outcome };
  return defer(() => merge(...[...before, outcome].map((record) => run.journal.append(record)))).pipe(
    // The journal answers in the order of its records, and the lines are to have that order as well.
    last(),
    concatMap((record) =>
      run.projections.write(ended, record).then(
        () => true,
        (error: unknown) => noteDiskFault(run, error),
      ),
    ),
    concatMap(() => delivered(run, ended)),
    concatMap(() => {
      tell(run, ending);
      return of(ended);
    }),
  );
}

/** Stops the run: what is durable in the journal is lost nowhere. */
export function noteDiskFault(run: Run, error: unknown): void {
  run.stops.stop(stopCauses.diskFailed(error instanceof Error ? error.message : String(error)));
}

function tell(run: Run, { outcome, row }: Ending): void {
  const { id, cost } = outcome;
  const status = outcome.status === 'completed' ? outcome.status : outcome.error.code;
  if (outcome.status === 'completed' && outcome.image !== undefined) run.expiring.saved(id);
  const message = outcome.status === 'completed' ? undefined : outcome.error.message;
  run.toDo.rows = Math.max(run.toDo.rows - 1, 0);
  run.log.write(
    status === 'completed' ? 'info' : 'warn',
    { id, row, status, cost, ...(message && { message }) },
    'row ended',
  );
  run.events.next({ type: 'ended', id, row, status, cost, ...(message !== undefined && { message }) });
  tellMoney(run);
  haltIfTooMany(run);
}

export function tellMoney(run: Run): void {
  const { reserved, spent, unknown, cap } = run.ledger.snapshot();
  run.events.next({ type: 'money', reserved, spent, unknown, ...(cap !== undefined && { cap }) });
}

/** A percentage counts of the rows to do, and of those that ended once they are enough to tell. */
function haltIfTooMany(run: Run): void {
  const { halt } = run.options;
  const { ended, failed: allFailed, invalid } = run.journal.tally.thisStart;
  const failed = allFailed - invalid;
  if (halt === undefined || run.stops.isStopping || failed === 0) return;
  const { ahead, taken } = run;
  const all = ahead.toSend + ahead.toPoll + ahead.toDownload + ahead.toHold + taken.polled.size;
  const isTooMany =
    'count' in halt
      ? failed >= halt.count
      : (all > 0 && failed * 100 >= halt.percent * all) ||
        (ended >= 20 && failed * 100 >= halt.percent * ended);
  if (isTooMany) run.stops.stop(stopCauses.halted(failed));
}
