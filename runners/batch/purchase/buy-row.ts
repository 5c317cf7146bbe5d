import { concat, concatMap, defer, EMPTY, ignoreElements, of, timer, type Observable } from 'rxjs';
import { failureCodes } from '../../../src/contract/failure-code.js';
import type { Failed, JobEvent } from '../../../src/contract/outcome.js';
import { clampTimer } from '../../../src/policy/clamp-timer.js';
import { retryDelayMs } from '../../../src/policy/retry-delay.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import { stopCauses, whyRefused } from '../stop/stop-causes.js';
import { withHostedPictures } from './host-pictures.js';
import { jobOf } from './job-of.js';
import { retriesPurchase } from '../row/decide-row.js';
import { endPurchase } from './end-purchase.js';
import { withinLedger } from './within-ledger.js';

/**
 * Sends a row: its price reserved, its job journalled. While others get through, a row whose tries are used up tries
 * anew; when nothing gets through the run stops. A row that emits no `settled` stays to be done.
 */
export function buyRow(context: PurchaseContext, row: RowInFlight): Observable<JobEvent<unknown>> {
  return defer(() => {
    const { reach, blocked } = context.service;
    if (blocked.has(row.task.row)) return EMPTY;
    const answersBefore = reach.answers;
    const job = jobOf(context, row).pipe(withinLedger(context, row));
    return withHostedPictures(context, row, job).pipe(
      concatMap((event) =>
        event.type === 'settled'
          ? afterJob(context, row, { settled: event, gotThrough: () => reach.answers > answersBefore })
          : of(event),
      ),
    );
  });
}

/** A job that is polled: nothing is bought. */
export function pollRow(context: PurchaseContext, row: RowInFlight): Observable<JobEvent<unknown>> {
  return jobOf(context, row).pipe(
    concatMap((event) =>
      event.type === 'settled'
        ? afterJob(context, row, { settled: event, gotThrough: () => false })
        : of(event),
    ),
  );
}

interface JobEnd {
  readonly settled: Extract<JobEvent<unknown>, { type: 'settled' }>;
  /** Whether others have got an answer since the row was sent. */
  readonly gotThrough: () => boolean;
}

/** What follows from the end of a job: the row's end in the journal, another purchase, or a stop that leaves the row to be done. */
function afterJob(
  context: PurchaseContext,
  row: RowInFlight,
  { settled, gotThrough }: JobEnd,
): Observable<JobEvent<unknown>> {
  const { outcome } = settled;
  if (outcome.status === 'failed' && failureCodes[outcome.code].scope === 'stop') {
    if (outcome.paid === 'no') context.money.ledger.release(row.id);
    return notAccepted(context, row, outcome, gotThrough);
  }
  const mayRetry = row.task.what === 'send' && !context.stops.leaves('submits');
  const isDouble = mayRetry && retriesPurchase(outcome, context.options, row.progress.doubles);
  row.change({ isOver: true });
  return concat(
    endPurchase(context, row, { outcome, isDouble }),
    defer(() => (isDouble ? buyRow(context, row) : of(settled))),
  );
}

/** The service has taken nothing. */
function notAccepted(
  context: PurchaseContext,
  row: RowInFlight,
  outcome: Failed,
  gotThrough: () => boolean,
): Observable<JobEvent<unknown>> {
  const { service, stops } = context;
  const isPassing = outcome.code === 'refused' || outcome.code === 'unreachable';
  const isElsewhere = isPassing && service.beside.worksBeside(row.task.row, service.reach);
  if (isPassing && (gotThrough() || isElsewhere) && !stops.leaves('submits'))
    return buyLater(context, row, outcome);
  stopFor(context, row, outcome);
  return EMPTY;
}

/** The wait goes on from those of the purchase whose tries are used up. */
function buyLater(
  context: PurchaseContext,
  row: RowInFlight,
  { code, retryAfterMs }: Failed,
): Observable<JobEvent<unknown>> {
  const { scheduler, random, retries } = context.options;
  const usedUp = row.progress.usedUp + 1;
  row.change({ usedUp });
  const forMs = retryDelayMs({ why: 'rate-limited', retryAfterMs }, retries + usedUp, random);
  const why = code === 'refused' ? 'rate-limited' : 'backoff';
  return concat(
    of<JobEvent<unknown>>({ type: 'waiting', why, forMs }),
    timer(clampTimer(forMs), scheduler).pipe(ignoreElements()),
    buyRow(context, row),
  );
}

/** No outcome of the row: it stays as it is, and the run may have to stop. */
function stopFor(context: PurchaseContext, row: RowInFlight, failed: Failed): void {
  const { stops, money } = context;
  const { code, message } = failed;
  if (code === 'endpoint-not-found') block(context, row.task.row.endpoint, message);
  else if (code === 'over-budget') stops.stop(stopCauses.capReached(money.ledger.snapshot()));
  else stops.stop(whyRefused(failed));
}

/** The first refusal blocks the endpoint for all rows; when none is left the run stops. */
function block({ service, stops, events }: PurchaseContext, endpoint: string, message: string): void {
  const { blocked } = service;
  if (!blocked.add(endpoint, message)) return;
  const cause = blocked.whyStop(message);
  if (cause !== undefined) stops.stop(cause);
  const text = `The service knows no endpoint "${endpoint}": its rows are left to be done (${message}).`;
  events.next({ type: 'warning', code: 'endpoint', message: text });
}
