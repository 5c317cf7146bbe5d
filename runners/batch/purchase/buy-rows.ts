import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  merge,
  NEVER,
  Observable,
  of,
  Subject,
  tap,
} from 'rxjs';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import type { ReplyRecord } from '../journal/record.js';
import { buyRow, pollRow } from './buy-row.js';
import { containFault, exitOf } from '../stop/exit-of.js';
import { holdRow, refuseRow } from './hold-row.js';
import { collecting } from './job-of.js';
import { intentRecord } from '../row/records-of.js';
import { RowInFlight } from '../row/row-in-flight.js';
import { isEnd } from '../row/row-status.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { isRead, type PaidRow, type RepliedRow, type RowFacts, type Task, type TaskOf } from '../row/task.js';
import { untilDurable, untilLeft } from './until-left.js';

/**
 * Does the tasks, each in a slot, and emits the rows that are paid and have a picture to save; all other rows end here. A
 * row keeps its slot until its reply or outcome is durable; a row that is emitted keeps it until `free` is called.
 */
export function buyRows(context: PurchaseContext, tasks: AsyncIterable<Task>): Observable<PaidRow> {
  return new Observable((subscriber) => {
    const settled = new Subject<PaidRow>();
    const handOver = (row: Omit<PaidRow, 'free'>): Observable<never> => handed(row, settled);
    const { slots, beside } = context.service;
    const { limit, limit$ = of(limit) } = slots;
    const reported$ = limit$.pipe(tap((rows) => context.events.next({ type: 'concurrency', rows })));
    // Without a journal there is no reply to wait for: such an error ends the stream at once.
    const atOnce = catchError<JobEvent<unknown>, Observable<never>>((error: unknown) => {
      settled.error(error);
      return NEVER;
    });
    const project = (task: Task): Observable<JobEvent<unknown>> => {
      const performed = perform(context, task, handOver).pipe(atOnce);
      if (isOfEarlierStart(task)) return beside.counted(performed);
      return task.what === 'refuse' ? performed : beside.freed(task.row, performed);
    };
    const pulled = pullJobs(beside.passing(untilFault(context, tasks)), project, {
      concurrency: beside.slots(reported$),
    });
    return merge(
      settled,
      pulled.pipe(
        ignoreElements(),
        finalize(() => settled.complete()),
      ),
    ).subscribe(subscriber);
  });
}

/** An error of the tasks stops the run as one of a row does: replies on their way are paid, and are awaited. */
async function* untilFault(
  context: PurchaseContext,
  tasks: AsyncIterable<Task>,
): AsyncGenerator<Task, void, void> {
  try {
    yield* tasks;
  } catch (error) {
    context.stops.stop({ ...exitOf(error), leaves: ['submits', 'polls', 'saves'] });
    throw error;
  }
}

/** What the manifest itself asks to collect was bought elsewhere, and keeps to the slots. */
function isOfEarlierStart(task: Task): boolean {
  return task.what === 'poll' && task.intent !== undefined;
}

type HandOver = (row: Omit<PaidRow, 'free'>) => Observable<never>;

/** Completes when somebody has taken the row over. */
function handed(row: Omit<PaidRow, 'free'>, settled: Subject<PaidRow>): Observable<never> {
  return new Observable((subscriber) => settled.next({ ...row, free: () => subscriber.complete() }));
}

function perform(context: PurchaseContext, task: Task, handOver: HandOver): Observable<JobEvent<unknown>> {
  switch (task.what) {
    case 'send':
      return flight(context, task, handOver, buyRow);
    case 'poll':
      return flight(context, task, handOver, pollRow);
    case 'fetch':
      return task.replied === undefined
        ? fetchElsewhere(context, task, handOver)
        : handOver(toFetch(task, task.replied));
    case 'hold':
      return holdRow(context, task);
    case 'refuse':
      return refuseRow(context, task.invalid);
  }
}

function flight(
  context: PurchaseContext,
  task: TaskOf<'send' | 'poll'>,
  handOver: HandOver,
  fly: (context: PurchaseContext, row: RowInFlight) => Observable<JobEvent<unknown>>,
): Observable<JobEvent<unknown>> {
  return defer(() => {
    const row = new RowInFlight(task);
    const isElsewhere = task.what === 'poll' && task.intent === undefined;
    const noted = isElsewhere ? collecting(context, row, task.jobId) : EMPTY;
    const { id } = row;
    const events = concat(noted, fly(context, row)).pipe(
      untilDurable(row),
      tap((event) => context.events.next({ type: 'row', id, row: task.row.row, event })),
      untilLeft(row, context.stops),
      containFault(context, id),
      finalize(() => giveBack(context, row)),
    );
    return concat(
      events,
      defer(() => toSave(row, handOver)),
    );
  });
}

/** A row that was left before its POST keeps no money. */
function giveBack({ money, rowLeft }: PurchaseContext, { id, task, progress }: RowInFlight): void {
  const { status, isOver } = progress;
  if (status === 'open' && !isOver && !isRead(task.row)) money.ledger.release(id);
  if (status !== 'replied' && !isEnd(status)) rowLeft?.(id);
}

/** A row whose reply is durable and that has not ended has a picture to be saved. */
function toSave({ progress }: RowInFlight, handOver: HandOver): Observable<never> {
  const { status, facts, intent, reply, attempts } = progress;
  if (status !== 'replied' || reply === undefined) return EMPTY;
  const bought = intent ?? intentOf(facts, reply.at, attempts);
  return handOver({ row: facts, intent: bought, reply, attempts, isBooked: false });
}

function intentOf(row: RowFacts, at: number, attempt: number) {
  return intentRecord(row, { at, attempt, price: 0, takes: 'picture' });
}

function toFetch(
  { row, attempts }: TaskOf<'fetch'>,
  { intent, reply, isBooked }: RepliedRow,
): Omit<PaidRow, 'free'> {
  return { row, intent, reply, attempts, isBooked };
}

/** A picture that was bought in another run is noted like a reply of this one, but for its price. */
function fetchElsewhere(
  context: PurchaseContext,
  { row, imageUrl, attempts }: TaskOf<'fetch'> & { imageUrl: string },
  handOver: HandOver,
): Observable<never> {
  return defer(() => {
    const { options, journal } = context;
    const at = options.scheduler.now();
    const intent = intentOf(row, at, attempts);
    const free = { at, id: row.id, cost: null, source: 'none', statusCalls: 0, submittedAt: at } as const;
    const reply: ReplyRecord = { k: 'reply', ...free, imageUrl, output: { image_url: imageUrl } };
    const noted = merge(journal.append(intent), journal.append(reply)).pipe(ignoreElements());
    return concat(noted, handOver({ row, intent, reply, attempts, isBooked: true }));
  });
}
