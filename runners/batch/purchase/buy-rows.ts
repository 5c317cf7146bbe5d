import {
  finalize,
  ignoreElements,
  merge,
  NEVER,
  Observable,
  of,
  Subject,
  type Subscriber,
  tap,
  type TeardownLogic,
} from 'rxjs';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import { flow, lastOf, type Steps } from '../../../src/operators/flow.js';
import type { SlotUse } from '../context/row-slots.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { JournalError } from '../journal/journal-error.js';
import type { ReplyRecord } from '../journal/record.js';
import { intentRecord, failedRecord, failedRow, purchaseFacts, rowError } from '../row/records-of.js';
import { RowInFlight } from '../row/row-in-flight.js';
import { type PaidRow, type RowFacts, type RowTask, type Task, type TaskOf } from '../row/task.js';
import { goingOnWith } from '../row/left-rows.js';
import { noteFault } from '../stop/exit-of.js';
import { buyRow } from './buy-row.js';
import { isSentAgain, whileInFlight } from './while-in-flight.js';
import { failureCodes } from '../../../src/contract/failure-code.js';
import { describeInvalid } from '../manifest/problem-tally.js';
import type { InvalidRow } from '../manifest/manifest-row.js';
import { endInvalid, endRow } from '../end/end-row.js';

/**
 * Performs the tasks, each in a slot, and emits the rows that are paid for and have a picture to save; all other rows
 * end here. A row keeps its slot until its reply or outcome is durable; an emitted row keeps it until `free` is called.
 */
export function buyRows(context: PurchaseContext, tasks: AsyncIterable<Task>): Observable<PaidRow> {
  return new Observable((subscriber) => {
    const paid = new Subject<PaidRow>();
    const { slots, rowSlots } = context.service;
    const { limit, limit$ = of(limit) } = slots;
    const reported$ = limit$.pipe(tap((rows) => context.events.next({ type: 'concurrency', rows })));
    function work(this: Observable<JobEvent<unknown>>, row: Subscriber<JobEvent<unknown>>): TeardownLogic {
      if (!(this instanceof RowWork)) return;
      const { task } = this;
      const use = rowSlots.enter(task);
      flow(() => perform(context, task, use, paid)).subscribe(row);
      return use;
    }
    const project = (task: Task) => new RowWork(work, task);
    const concurrency = rowSlots.slots(reported$);
    // No later subscriber comes, and the last outcomes may have megabytes each.
    const pulled = pullJobs(rowSlots.passing(tasks), project, { concurrency, replay: 0 });
    return merge(
      paid,
      pulled.pipe(
        ignoreElements(),
        finalize(() => paid.complete()),
      ),
    ).subscribe(subscriber);
  });
}

/** The work on a task. All tasks share its function: a closure for each row that waits would take 90 bytes more. */
class RowWork extends Observable<JobEvent<unknown>> {
  constructor(
    work: (this: Observable<JobEvent<unknown>>, row: Subscriber<JobEvent<unknown>>) => TeardownLogic,
    readonly task: Task,
  ) {
    super(work);
  }
}

/**
 * An error that is not a row's outcome stops the run. A `JournalError` ends the stream at once: without a journal there
 * is no use in waiting for replies.
 *
 * @param paid receives the rows that have a picture to save
 */
function* perform(
  context: PurchaseContext,
  task: Task,
  use: SlotUse,
  paid: Subject<PaidRow>,
): Steps<JobEvent<unknown>> {
  try {
    if (task.what === 'send' || task.what === 'poll') {
      let row = new RowInFlight(task);
      yield whileInFlight(context, row, buyRow(context, row), use);
      const found = yield* goOnWithNamed(context, row);
      if (found !== undefined) {
        row = new RowInFlight(found);
        yield whileInFlight(context, row, buyRow(context, row), use);
      }
      const reply = toSave(row);
      if (reply !== undefined) yield handOver(reply, paid);
    } else if (task.what === 'fetch') yield handOver(yield* toFetch(context, task), paid);
    else if (task.what === 'hold') yield* holdRow(context, task);
    else yield* refuseRow(context, task.invalid);
  } catch (error) {
    if (error instanceof JournalError) {
      paid.error(error);
      yield NEVER;
    }
    noteFault(context, task.what === 'refuse' ? task.invalid.key : task.row.id, error);
  }
}

/**
 * Continues a row that waits to be sent again with the job of its earlier POST, which was accepted after all. The money held
 * for that POST stays in the ledger, in addition to this reservation, until the start ends.
 */
function* goOnWithNamed(context: PurchaseContext, row: RowInFlight): Steps<never, RowTask | undefined> {
  if (row.task.what !== 'send' || !isSentAgain(row)) return undefined;
  const named = context.callbacks?.takeNamed?.(row);
  if (named === undefined) return undefined;
  const { journal, money, options } = context;
  const { records, task } = goingOnWith(named.again, { jobId: named.jobId, at: options.scheduler.now() });
  yield* lastOf(merge(...records.map((record) => journal.append(record))));
  money.ledger.reserve(row.id, named.again.intent.price, named.again.intent);
  return task;
}

type HandedOver = Omit<PaidRow, 'free'>;

/** Emits the row, and completes when the receiver calls `free`. */
function handOver(row: HandedOver, paid: Subject<PaidRow>): Observable<never> {
  return new Observable((subscriber) => paid.next({ ...row, free: () => subscriber.complete() }));
}

/** A row with a durable reply that has not ended: its picture is still to be saved. */
function toSave({ progress }: RowInFlight): HandedOver | undefined {
  const { status, facts, intent, reply, attempts } = progress;
  if (status !== 'replied' || reply === undefined) return undefined;
  return {
    row: facts,
    intent: intent ?? intentOf(facts, reply.at, attempts),
    reply,
    attempts,
    isBooked: false,
  };
}

function intentOf(row: RowFacts, at: number, attempt: number) {
  return intentRecord(row, { at, attempt, price: 0, takes: 'picture' });
}

/** A picture that was bought in another run is journalled like a reply of this one, but without a price. */
function* toFetch(context: PurchaseContext, task: TaskOf<'fetch'>): Steps<never, HandedOver> {
  const { row, attempts } = task;
  if (task.replied !== undefined) return { row, attempts, ...task.replied };
  const { options, journal } = context;
  const at = options.scheduler.now();
  const intent = intentOf(row, at, attempts);
  const free = { at, id: row.id, cost: null, source: 'none', statusCalls: 0, submittedAt: at } as const;
  const { imageUrl } = task;
  const reply: ReplyRecord = { k: 'reply', ...free, imageUrl, output: { image_url: imageUrl } };
  yield* lastOf(merge(journal.append(intent), journal.append(reply)));
  return { row, intent, reply, attempts, isBooked: true };
}

/** Whether the row is held because its purchase may be in the lost part of the journal: its price is in no sum yet. */
export function isLost(
  { mustHold }: Pick<PurchaseContext, 'mustHold'>,
  { row, code }: TaskOf<'hold'>,
): boolean {
  return code === 'unknown' && mustHold(row.id, row.row);
}

/** Ends a row that may have been bought before without sending it: it fails with the task's code, so that a person can decide. */
export function* holdRow(context: PurchaseContext, task: TaskOf<'hold'>): Steps<never> {
  const { options, money } = context;
  const { row, code, attempts } = task;
  const at = options.scheduler.now();
  const { paid } = failureCodes[code];
  const lost = isLost(context, task);
  const price = lost ? money.prices.priceOf(row) : null;
  if (lost) money.ledger.hold(row.id, price, row);
  const message = lost
    ? 'its purchase may be in the lost part of the journal: it is not sent again'
    : `it failed before as ${code}: ${failureCodes[code].meaning}`;
  // Known purchases are in costs.csv already; the lost one counts as a further attempt.
  const attempt = attempts === 0 ? 0 : attempts + 1;
  const purchase = purchaseFacts(row, { attempt, settledAt: at });
  const outcome = failedRecord(row.id, rowError({ code, message, paid }), {
    at,
    cost: price,
    source: lost ? 'unknown' : 'none',
    statusCalls: 0,
    row: failedRow(row),
    ...(lost && { purchase }),
  });
  yield* lastOf(endRow(context, { records: [outcome], row: row.row }));
}

/** Ends an invalid row as failed. */
export function* refuseRow(context: PurchaseContext, invalid: InvalidRow): Steps<never> {
  const { row, key, cells } = invalid;
  const facts = { row, hash: '', kind: null, endpoint: '', cells };
  yield* endInvalid(context, key, facts, describeInvalid(invalid).join('; '));
}

/**
 * Tasks for `buyRows`, each handed over when it is pulled. The feed ends when it is closed; tasks that were not pulled
 * by then are dropped.
 */
export class TaskFeed implements AsyncIterable<Task> {
  private readonly given: { readonly task: Task; readonly taken: () => void }[] = [];
  private readonly takers: ((next: IteratorResult<Task, undefined>) => void)[] = [];
  private isClosed = false;

  /** Resolves when the task is pulled, or the feed is closed. */
  give(task: Task): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    const taker = this.takers.shift();
    if (taker === undefined) return new Promise((taken) => this.given.push({ task, taken }));
    taker({ value: task, done: false });
    return Promise.resolve();
  }

  close(): void {
    this.isClosed = true;
    for (const taker of this.takers.splice(0)) taker({ value: undefined, done: true });
    for (const { taken } of this.given.splice(0)) taken();
  }

  [Symbol.asyncIterator](): AsyncIterator<Task, undefined, undefined> {
    return {
      next: () => {
        const next = this.given.shift();
        next?.taken();
        if (next !== undefined) return Promise.resolve({ value: next.task, done: false });
        if (this.isClosed) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve) => this.takers.push(resolve));
      },
      return: () => {
        this.close();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }
}
