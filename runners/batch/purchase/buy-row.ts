import { timer, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import { failureCodes } from '../../../src/contract/failure-code.js';
import type { Failed, JobEvent, Outcome } from '../../../src/contract/outcome.js';
import { flow, lastOf, receive, type Step, type Steps, type Taker } from '../../../src/operators/flow.js';
import { factsOf, type JobFacts } from '../../../src/operators/job.js';
import { clampTimer } from '../../../src/policy/client-clock.js';
import { retryDelayMs } from '../../../src/policy/retry-delay.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { retriesPurchase } from '../row/decide-row.js';
import { intentOfRow } from '../row/records-of.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import { isOutOfCredit, stopCauses, whyRefused, whyDrifted } from '../stop/stop-causes.js';
import { endPurchase } from './end-purchase.js';
import { arePicturesHosted } from './host-pictures.js';
import { collecting, jobOf } from './job-of.js';
import { noteAnswer } from '../stop/service-reach.js';
import type { StopCause, Stops } from '../stop/stops.js';
import { isRead } from '../row/task.js';

/**
 * Sends a row after reserving its price, with its job in the journal; or polls its job, which buys nothing. A row that has used
 * up its tries starts again while the service accepts other requests; otherwise the run stops. A row that emits no `settled` is
 * left for a later start.
 */
export function buyRow(context: PurchaseContext, row: RowInFlight): Observable<JobEvent<unknown>> {
  return flow(() => purchases(context, row));
}

/**
 * Makes one purchase after another, until one ends the row or leaves it for a later start. Emits the events of each, the last one
 * only of the purchase that ends the row.
 */
function* purchases(context: PurchaseContext, row: RowInFlight): Steps<JobEvent<unknown>> {
  const { service } = context;
  const { task } = row;
  if (task.what === 'poll' && task.intent === undefined) yield* collecting(context, row, task.jobId);
  for (;;) {
    if (task.what === 'send' && service.blocked.has(task.row)) return;
    const answersBefore = service.reach.answers;
    const host = task.what === 'send' ? context.pictures.host : undefined;
    if (host !== undefined && !(yield* arePicturesHosted(context, row, host))) return;
    if (task.what === 'send' && !(yield* isReserved(context, row))) return;
    const end = new LastEvent();
    yield end.ofPurchase(context, row);
    // Nothing was bought, and the row is left for a later start.
    if (end.settled === undefined) return;
    row.change({ statusCalls: row.progress.statusCalls + end.statusCalls });
    if (yield* isDone(context, row, end.settled, answersBefore)) return;
  }
}

/**
 * Ends a row whose purchase has ended. Returns false if another purchase follows. It is a generator of its own, because a row that
 * waits in `purchases` takes memory for all that this one needs.
 */
function* isDone(
  context: PurchaseContext,
  row: RowInFlight,
  settled: Settled,
  answersBefore: number,
): Steps<JobEvent<unknown>, boolean> {
  const { service, stops, options, money } = context;
  const { task } = row;
  const { outcome } = settled;
  if (outcome.status === 'failed' && failureCodes[outcome.code].scope === 'stop') {
    // The price of an accepted job, whose poll ended so, stays reserved.
    if (outcome.paid === 'no') money.ledger.release(row.id);
    const gotThrough = task.what === 'send' && service.reach.answers > answersBefore;
    const isTriedAnew = mayTryAnew(context, row, outcome, gotThrough);
    if (isTriedAnew) yield* waited(context, row, outcome);
    else stopFor(context, row, outcome);
    return !isTriedAnew;
  }
  if (task.what === 'send') noteOutcome(context, row, outcome);
  const mayRetry = task.what === 'send' && !stops.leaves('open');
  const isDouble = mayRetry && retriesPurchase(outcome, options, row.progress.doubles);
  row.change({ isOver: true, intent: intentOfRow(row.progress) });
  yield* endPurchase(context, row, { outcome, isDouble });
  if (!isDouble) yield settled;
  return !isDouble;
}

type Settled = Extract<JobEvent<unknown>, { type: 'settled' }>;

/**
 * Keeps the last event of a purchase, and emits the others. It keeps the facts about the job, because a row that waits would take 90
 * bytes more for the job itself.
 */
class LastEvent implements Taker<JobEvent<unknown>, JobEvent<unknown>> {
  settled: Settled | undefined;
  private facts: Pick<JobFacts, 'statusCalls'> | undefined;

  ofPurchase(context: PurchaseContext, row: RowInFlight): Step<JobEvent<unknown>> {
    const job = jobOf(context, row);
    this.facts = factsOf(job);
    return receive(job, this);
  }

  get statusCalls(): number {
    return this.facts?.statusCalls ?? 0;
  }

  take(event: JobEvent<unknown>): JobEvent<unknown> | undefined {
    if (event.type !== 'settled') return event;
    this.settled = event;
    return undefined;
  }
}

/**
 * Whether a row that the service did not accept is sent again: if the service accepts other requests, or rows of other
 * endpoints are in flight. A run that stops has left the row before.
 */
function mayTryAnew(
  { service }: PurchaseContext,
  row: RowInFlight,
  refusal: Failed,
  gotThrough: boolean,
): boolean {
  const { code } = refusal;
  const isPassing = (code === 'refused' && !isOutOfCredit(refusal)) || code === 'unreachable';
  const isElsewhere = isPassing && service.rowSlots.areOthersAnswered(row.task.row, service.reach);
  return isPassing && (gotThrough || isElsewhere);
}

/** Waits before the next purchase. The delay continues the backoff of the purchase that used up its tries. */
function* waited(
  { options }: PurchaseContext,
  row: RowInFlight,
  { code, retryAfterMs }: Failed,
): Steps<JobEvent<unknown>> {
  const { scheduler, random, retries } = options;
  const usedUp = row.progress.usedUp + 1;
  row.change({ usedUp });
  const forMs = retryDelayMs({ why: 'rate-limited', retryAfterMs }, retries + usedUp, random);
  yield { type: 'waiting', why: code === 'refused' ? 'rate-limited' : 'backoff', forMs };
  yield* lastOf(timer(clampTimer(forMs), scheduler));
}

function noteOutcome(
  { service: { reach, rowSlots }, stops, options }: PurchaseContext,
  row: RowInFlight,
  outcome: Outcome<unknown>,
): void {
  const { row: facts } = row.task;
  const at = options.scheduler.now();
  const sentAt = row.progress.submittedAt ?? at;
  const whyUnknown = outcome.status === 'failed' && outcome.code === 'unknown' ? outcome.message : undefined;
  const areOthersAnswered = () => rowSlots.areOthersAnswered(facts, reach);
  noteAnswer({ reach, stops, areOthersAnswered }, { endpoint: facts.endpoint, sentAt, at, whyUnknown });
}

/** Handles a failure that does not end the row: the row keeps its state, and the run may have to stop. */
function stopFor(context: PurchaseContext, row: RowInFlight, failed: Failed): void {
  const { stops, money, service } = context;
  const { code, message } = failed;
  if (code === 'endpoint-not-found') block(context, row.task.row.endpoint, message);
  else if (code === 'over-budget') stops.stop(stopCauses.capReached(money.ledger.snapshot()));
  else stops.stop(code === 'unreachable' ? service.reach.whyUnreached(message) : whyRefused(failed));
}

/** The first 404 blocks the endpoint for all rows; the run stops when no endpoint is left. */
function block({ service, stops, events }: PurchaseContext, endpoint: string, message: string): void {
  const { blocked } = service;
  if (!blocked.add(endpoint, message)) return;
  const cause = blocked.whyStop(message);
  if (cause !== undefined) stops.stop(cause);
  const text = `The service does not know the endpoint "${endpoint}": its rows are left for a later start (${message}).`;
  events.next({ type: 'warning', code: 'endpoint', message: text });
}

/** Subscribes to a purchase only once the row's price is reserved. */
export function withinLedger<T>(context: PurchaseContext, row: RowInFlight): MonoTypeOperatorFunction<T> {
  return (purchase) =>
    flow<T>(function* () {
      if (yield* isReserved(context, row)) yield purchase;
    });
}

/**
 * Reserves the row's price. If the row does not fit under a cap or on the disk, or its price has drifted too far, the run stops
 * and leaves this row and all later ones. If only the cap of a value is full, only this row is left.
 */
function* isReserved(context: PurchaseContext, row: RowInFlight): Steps<never, boolean> {
  const { stops, money, room } = context;
  const { facts } = row.progress;
  if (isRead(facts)) return true;
  const look = room?.look();
  if (look !== undefined) yield* lastOf(look);
  // An earlier row may have found no room while this one waited.
  if (stops.leavesUnreserved && row.progress.usedUp === 0 && row.progress.doubles === 0) return false;
  if (room?.shortage !== undefined) return stopped(stops, stopCauses.diskFailed(room.shortage, 'ENOSPC'));
  // The drift includes prices that were reported to earlier starts.
  const { maxDriftPercent: limit } = money;
  const drifted = limit === undefined ? undefined : whyDrifted(facts, money.prices.driftOf(facts), limit);
  if (drifted !== undefined) return stopped(stops, drifted);
  const price = money.prices.priceOf(facts);
  row.change({ price });
  const full = money.ledger.fullValue?.(price, facts);
  if (full !== undefined) return leftAt(money.full.add(full), context);
  if (!money.ledger.reserve(row.id, price, facts))
    return stopped(stops, stopCauses.capReached(money.ledger.snapshot()));
  const { shared } = money;
  // Unsubscribing while the reservation is being made releases it.
  if (shared !== undefined && !(yield* lastOf(shared.reserve(row.id, price)))) {
    const fullThere = shared.whyFull?.(row.id);
    if (fullThere === undefined) return stopped(stops, shared.whyStop(price));
    return leftAt(money.full.add(fullThere), context);
  }
  money.watch?.look(facts);
  return true;
}

/** Leaves this row for a later start; rows with other values continue. */
function leftAt(message: string | undefined, { events }: PurchaseContext): false {
  if (message !== undefined) events.next({ type: 'warning', code: 'value-cap', message });
  return false;
}

function stopped(stops: Stops, cause: StopCause): false {
  stops.stop({ ...cause, leavesUnreserved: true });
  return false;
}
