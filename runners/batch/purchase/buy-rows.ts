import { finalize, ignoreElements, merge, NEVER, Observable, of, Subject, tap, using } from 'rxjs';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import { flow, lastOf, type Steps } from '../../../src/operators/flow.js';
import type { SlotUse } from '../context/beside-polls.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { JournalError } from '../journal/journal-error.js';
import type { ReplyRecord } from '../journal/record.js';
import { intentRecord } from '../row/records-of.js';
import { RowInFlight } from '../row/row-in-flight.js';
import type { PaidRow, RowFacts, Task, TaskOf } from '../row/task.js';
import { noteFault } from '../stop/exit-of.js';
import { buyRow } from './buy-row.js';
import { holdRow, refuseRow } from './hold-row.js';
import { whileInFlight } from './while-in-flight.js';

/**
 * Does the tasks, each in a slot, and emits the rows that are paid and have a picture to save; all other rows end here. A
 * row keeps its slot until its reply or outcome is durable; a row that is emitted keeps it until `free` is called.
 */
export function buyRows(context: PurchaseContext, tasks: AsyncIterable<Task>): Observable<PaidRow> {
  return new Observable((subscriber) => {
    const paid = new Subject<PaidRow>();
    const { slots, beside } = context.service;
    const { limit, limit$ = of(limit) } = slots;
    const reported$ = limit$.pipe(tap((rows) => context.events.next({ type: 'concurrency', rows })));
    const project = (task: Task): Observable<JobEvent<unknown>> =>
      using(
        () => beside.enter(task),
        (use) => flow(() => contained(context, { task, use: use as SlotUse, paid })),
      );
    const pulled = pullJobs(beside.passing(tasks), project, { concurrency: beside.slots(reported$) });
    return merge(
      paid,
      pulled.pipe(
        ignoreElements(),
        finalize(() => paid.complete()),
      ),
    ).subscribe(subscriber);
  });
}

interface Doing {
  readonly task: Task;
  readonly use: SlotUse;
  /** Takes the rows that have a picture to save. */
  readonly paid: Subject<PaidRow>;
}

/** An error that is no row's outcome stops the run. Without a journal there is no reply to wait for: it ends the stream at once. */
function* contained(context: PurchaseContext, doing: Doing): Steps<JobEvent<unknown>> {
  try {
    yield* perform(context, doing);
  } catch (error) {
    if (error instanceof JournalError) {
      doing.paid.error(error);
      yield NEVER;
    }
    const { task } = doing;
    noteFault(context, task.what === 'refuse' ? task.invalid.key : task.row.id, error);
  }
}

function* perform(context: PurchaseContext, { task, use, paid }: Doing): Steps<JobEvent<unknown>> {
  switch (task.what) {
    case 'send':
    case 'poll': {
      const row = new RowInFlight(task);
      yield whileInFlight(context, row, buyRow(context, row), (event) => use.follow(event));
      const reply = toSave(row);
      if (reply !== undefined) yield handOver(reply, paid);
      return;
    }
    case 'fetch':
      return yield handOver(yield* toFetch(context, task), paid);
    case 'hold':
      return yield* holdRow(context, task);
    case 'refuse':
      return yield* refuseRow(context, task.invalid);
  }
}

type HandedOver = Omit<PaidRow, 'free'>;

/** Completes when somebody has taken the row over. */
function handOver(row: HandedOver, paid: Subject<PaidRow>): Observable<never> {
  return new Observable((subscriber) => paid.next({ ...row, free: () => subscriber.complete() }));
}

/** A row whose reply is durable and that has not ended has a picture to be saved. */
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

/** A picture that was bought in another run is noted like a reply of this one, but for its price. */
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
