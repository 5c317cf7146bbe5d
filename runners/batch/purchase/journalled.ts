import { defer, EMPTY, ignoreElements, merge, tap, type Observable } from 'rxjs';
import type { CheckpointEvent } from '../../../src/contract/outcome.js';
import type { JournalRecord } from '../journal/record.js';
import { intentRecord } from '../row/records-of.js';
import type { RowRun } from '../row/row-run.js';
import type { Run } from '../context/run.js';
import { keepOutcome } from './keep-outcome.js';
import { stopCauses } from '../stop/stop-causes.js';
import { isRead } from '../row/task.js';

/**
 * The journal as the checkpoint of a row's job: intent before the POST, id before the first poll, reply or outcome
 * before the end is emitted. An error here keeps the POST from being sent, and ends the run.
 */
export function journalled(run: Run, row: RowRun): (mark: CheckpointEvent<unknown>) => Observable<unknown> {
  return (mark) =>
    defer(() => {
      switch (mark.type) {
        case 'intent':
          return intend(run, row);
        case 'refused':
          noteFailedTry(run, row, mark.why);
          if (isRead(row.row)) return EMPTY;
          return append(run, { k: 'refused', at: now(run), id: row.id, why: mark.why }, () =>
            row.enter('waiting'),
          );
        case 'accepted':
          row.jobId = mark.jobId;
          return append(run, { k: 'accepted', at: now(run), id: row.id, jobId: mark.jobId }, () =>
            row.enter('polling'),
          );
        case 'settled':
          if (isRead(row.row)) row.enter('ended');
          return keepOutcome(run, row, mark.outcome);
      }
    });
}

/** While the run stops, rows are left before their POST: nothing was tried. */
function noteFailedTry(run: Run, row: RowRun, why: string): void {
  if (run.stops.isStopping) return;
  const at = now(run);
  const isHopeless = run.reach.failed({ sentAt: row.submittedAt ?? at, at });
  if (isHopeless && !run.beside.worksBeside(row.row, run.reach)) run.stops.stop(stopCauses.unreachable(why));
}

/** A job that was bought elsewhere is noted like a purchase, but for its price. */
export function collecting(run: Run, row: RowRun, jobId: string): Observable<never> {
  return defer(() => {
    const at = now(run);
    row.intent = intentRecord(row.row, { at, attempt: row.attempts, price: 0, takes: 'job', jobId });
    row.submittedAt = at;
    run.jobIds.keep({ endpoint: row.row.endpoint, jobId, key: row.id });
    const accepted: JournalRecord = { k: 'accepted', at, id: row.id, jobId };
    return merge(run.journal.append(row.intent), run.journal.append(accepted)).pipe(ignoreElements());
  });
}

/** From here on the row is not left alone: its POST is about to leave. A read may be left at any time. */
function intend(run: Run, row: RowRun): Observable<unknown> {
  if (isRead(row.row)) {
    row.enter('wire');
    row.attempts += 1;
    row.submittedAt ??= now(run);
    row.intent = intentRecord(row.row, { at: row.submittedAt, attempt: row.attempts, price: 0 });
    return EMPTY;
  }
  row.enter('wire');
  row.attempts += 1;
  row.jobId = undefined;
  row.submittedAt = now(run);
  const price = row.price ?? null;
  row.intent = intentRecord(row.row, { at: row.submittedAt, attempt: row.attempts, price });
  return append(run, row.intent);
}

function append(run: Run, record: JournalRecord, done: () => void = () => undefined): Observable<unknown> {
  return run.journal.append(record).pipe(tap(done));
}

function now(run: Run): number {
  return run.options.scheduler.now();
}
