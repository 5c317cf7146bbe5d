import {
  distinctUntilChanged,
  filter,
  map,
  NEVER,
  Observable,
  type Observer,
  type Subscriber,
  type Subscription,
  switchMap,
  take,
  type Unsubscribable,
} from 'rxjs';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { OneTeardown } from '../../../src/policy/one-teardown.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import type { SlotUse } from '../context/row-slots.js';
import type { RowInFlight, RowProgress } from '../row/row-in-flight.js';
import { isEnd, type RowStatus } from '../row/row-status.js';
import { isRead } from '../row/task.js';
import type { Leavable } from '../stop/stops.js';

/**
 * Reports the events of a row, and leaves the row when the run stops and a later start can continue it. Without a
 * subscriber it goes on where it must: a POST that was sent is awaited until its answer is durable, and the records and
 * lines after the end of a job are written.
 *
 * @param use follows each event as well
 */
export function whileInFlight(
  context: PurchaseContext,
  row: RowInFlight,
  events: Observable<JobEvent<unknown>>,
  use: Pick<SlotUse, 'follow'>,
): Observable<JobEvent<unknown>> {
  return new Observable((subscriber) => {
    const flight = new Flight(context, row, use, subscriber);
    context.stops.join(flight);
    subscriber.add(isJobNamed(context, row)?.subscribe(() => subscriber.complete()));
    if (subscriber.closed) return context.stops.part(flight);
    events.subscribe(flight);
    subscriber.add(new FlightEnd(flight));
  });
}

/** One object for each of the many rows that wait: closures and operators would take several times its memory. */
class Flight extends OneTeardown implements Observer<JobEvent<unknown>>, Leavable {
  /** The attempt whose POST was sent. */
  private sent: number | undefined;
  private left: Subscription | undefined;

  constructor(
    private readonly context: PurchaseContext,
    private readonly row: RowInFlight,
    private readonly use: Pick<SlotUse, 'follow'>,
    private readonly subscriber: Subscriber<JobEvent<unknown>>,
  ) {
    super();
  }

  next(event: JobEvent<unknown>): void {
    const { context, row, use, subscriber } = this;
    if (this.closed) return;
    if (event.type === 'submitting') this.sent = row.progress.attempts;
    if (subscriber.closed) return;
    context.events.next({ type: 'row', id: row.id, row: row.task.row.row, event });
    use.follow(event);
    subscriber.next(event);
  }

  error(error: unknown): void {
    if (this.closed) return;
    this.unsubscribe();
    this.subscriber.error(error);
  }

  complete(): void {
    if (this.closed) return;
    this.unsubscribe();
    this.subscriber.complete();
  }

  /**
   * The run stops: the row is left once a later start can continue it, before its POST, or when its job id is
   * journalled. A reply on its way is paid for and awaited, unless the stop says not to wait. A row whose job has ended
   * goes on to its end even then: its outcome may be in the journal, and its lines have to follow.
   */
  leave(leaving: ReadonlySet<RowStatus>): void {
    const { row, subscriber } = this;
    this.left?.unsubscribe();
    const isLeft$ = row.progress$.pipe(
      filter((progress) => isLeftIn(progress, leaving)),
      take(1),
    );
    this.left = isLeft$.subscribe(() => subscriber.complete());
  }

  end(): void {
    const { context, row } = this;
    context.stops.part(this);
    this.left?.unsubscribe();
    giveBack(context, row);
    if (this.closed) return;
    const isDone = row.progress$.pipe(filter((progress) => !mustGoOn(progress, this.sent)));
    this.add(isDone.subscribe(() => this.unsubscribe()));
  }
}

/** The teardown of a row: a closure would keep the stream of its events, and with it 350 bytes. */
class FlightEnd implements Unsubscribable {
  constructor(private readonly flight: Flight) {}

  unsubscribe(): void {
    this.flight.end();
  }
}

function mustGoOn({ status, isOver, attempts, facts }: RowProgress, sent: number | undefined): boolean {
  return isOver || (status === 'sent' && sent === attempts && !isRead(facts));
}

/**
 * Releases the money of a row that is left before its POST. A row whose job has ended keeps its money, because it is
 * written to its end.
 */
function giveBack({ money, rowLeft }: PurchaseContext, { id, task, progress }: RowInFlight): void {
  const { status, isOver } = progress;
  if (isOver) return;
  if (status === 'open' && !isRead(task.row)) money.ledger.release(id);
  if (status !== 'replied' && !isEnd(status)) rowLeft?.(id);
}

/**
 * Emits when a row that waits to be sent again need not be: a callback names the job that its earlier POST created.
 * `undefined` if no such callback can come.
 */
function isJobNamed({ callbacks }: PurchaseContext, row: RowInFlight): Observable<unknown> | undefined {
  if (row.task.what !== 'send' || callbacks?.jobNamed === undefined) return undefined;
  const named$ = callbacks.jobNamed(row);
  return row.progress$.pipe(
    map(() => isSentAgain(row)),
    distinctUntilChanged(),
    switchMap((isWaiting) => (isWaiting ? named$ : NEVER)),
  );
}

/** Whether the row waits to be sent once more. */
export function isSentAgain({ progress: { status, attempts } }: RowInFlight): boolean {
  return status === 'open' && attempts > 0;
}

function isLeftIn({ status, facts, isOver }: RowProgress, leaving: ReadonlySet<RowStatus>): boolean {
  // The answer of a job that has ended is here: the run waits until it is kept. A read can be repeated for free, so it is left at once.
  return !isOver && leaving.has(status === 'sent' && isRead(facts) ? 'open' : status);
}
