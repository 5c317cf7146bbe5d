import { concat, defer, EMPTY, filter, ignoreElements, of, timer, type Observable } from 'rxjs';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { Failed, JobEvent, Outcome } from '../../../src/contract/outcome.js';
import { clampTimer } from '../../../src/policy/clamp-timer.js';
import { retryDelayMs } from '../../../src/policy/retry-delay.js';
import { withHostedPictures } from './host-pictures.js';
import { jobOf } from './job-of.js';
import type { RowRun } from '../row/row-run.js';
import type { Run } from '../context/run.js';
import { stopCauses } from '../stop/stop-causes.js';
import { withinLedger } from './within-ledger.js';

/**
 * Sends a row: its price reserved, its job journalled. While others get through, a row whose tries are used up tries
 * anew; when nothing gets through the run stops. What ends without `settled` stays to be done.
 */
export function buyRow(run: Run, row: RowRun): Observable<JobEvent<unknown>> {
  return defer(() => {
    if (isBlocked(run, row)) return EMPTY;
    const heardBefore = run.reach.answers;
    const job = withHostedPictures(run, row, jobOf(run, row).pipe(withinLedger(run, row)));
    return afterEnd(job, (settled) => {
      if (row.phase === 'waiting' && isDoubt(settled.outcome)) return buyRow(run, row);
      return goOn(run, row, settled, run.reach.answers > heardBefore);
    });
  });
}

/** A job that is polled: nothing is bought. */
export function pollRow(run: Run, row: RowRun): Observable<JobEvent<unknown>> {
  return afterEnd(jobOf(run, row), (settled) => goOn(run, row, settled, false));
}

type Settled = Extract<JobEvent<unknown>, { type: 'settled' }>;

/** Holds the last event back until the job is over, and puts what follows from it in its place. */
function afterEnd(
  job: Observable<JobEvent<unknown>>,
  next: (settled: Settled) => Observable<JobEvent<unknown>>,
): Observable<JobEvent<unknown>> {
  return defer(() => {
    let end: Settled | undefined;
    const before = job.pipe(
      filter((event) => {
        if (event.type === 'settled') end = event;
        return event.type !== 'settled';
      }),
    );
    return concat(
      before,
      defer(() => (end === undefined ? EMPTY : next(end))),
    );
  });
}

/** Its purchase ended as unknown, and the row is sent again all the same. */
function isDoubt(outcome: Outcome<unknown>): boolean {
  return outcome.status === 'failed' && outcome.code === 'unknown';
}

function goOn(run: Run, row: RowRun, settled: Settled, gotThrough: boolean): Observable<JobEvent<unknown>> {
  const { outcome } = settled;
  if (outcome.status === 'completed' || !isStop(outcome)) return of(settled);
  const isPassing = outcome.code === 'refused' || outcome.code === 'unreachable';
  const isElsewhere = isPassing && run.beside.worksBeside(row.row, run.reach);
  return isPassing && (gotThrough || isElsewhere) && !run.stops.leaves('submits')
    ? buyLater(run, row, outcome)
    : afterRefusal(run, row, outcome);
}

/** The wait goes on from those of the purchase whose tries are used up. */
function buyLater(run: Run, row: RowRun, { code, retryAfterMs }: Failed): Observable<JobEvent<unknown>> {
  const { scheduler, random, retries } = run.options;
  row.usedUp += 1;
  const forMs = retryDelayMs({ why: 'rate-limited', retryAfterMs }, retries + row.usedUp, random);
  const why = code === 'refused' ? 'rate-limited' : 'backoff';
  return concat(
    of<JobEvent<unknown>>({ type: 'waiting', why, forMs }),
    timer(clampTimer(forMs), scheduler).pipe(ignoreElements()),
    buyRow(run, row),
  );
}

/** No outcome of the row: it stays as it is, and the run may have to stop. */
function afterRefusal(run: Run, row: RowRun, { code, message }: Failed): Observable<never> {
  switch (code as StopCode) {
    case 'unauthorized':
      run.stops.stop(stopCauses.keyRefused(message));
      break;
    case 'insecure':
      run.stops.stop(stopCauses.insecure(message));
      break;
    case 'endpoint-not-found':
      block(run, row.row.endpoint, message);
      break;
    case 'over-budget':
      run.stops.stop(stopCauses.capReached(run.ledger.snapshot()));
      break;
    case 'refused':
    case 'unreachable':
      run.stops.stop(stopCauses.unreachable(message));
  }
  return EMPTY;
}

const stopCodes = [
  'refused',
  'unreachable',
  'unauthorized',
  'endpoint-not-found',
  'insecure',
  'over-budget',
] as const;
type StopCode = (typeof stopCodes)[number];

function isStop({ code }: { code: FailureCode }): boolean {
  return (stopCodes as readonly FailureCode[]).includes(code);
}

function isBlocked(run: Run, row: RowRun): boolean {
  return row.row.kind !== 'route' && run.blocked.has(row.row.endpoint);
}

/** The first refusal blocks the endpoint for all rows; when none is left the run stops. */
function block(run: Run, endpoint: string, message: string): void {
  if (run.blocked.has(endpoint)) return;
  run.blocked.set(endpoint, message);
  const isLast = run.plan.byKind.route === 0 && run.ahead.endpoints.every((known) => run.blocked.has(known));
  if (isLast) run.stops.stop(stopCauses.noEndpointLeft([...run.blocked.keys()], message));
  const text = `The service knows no endpoint "${endpoint}": its rows are left to be done (${message}).`;
  run.events.next({ type: 'warning', code: 'endpoint', message: text });
}
