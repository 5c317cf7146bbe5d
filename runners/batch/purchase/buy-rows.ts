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
import { containFault } from '../stop/contain-fault.js';
import { exitOf } from '../stop/exit-of.js';
import { holdRow, refuseRow } from './hold-row.js';
import { collecting } from './journalled.js';
import { intentRecord } from '../row/records-of.js';
import { RowRun } from '../row/row-run.js';
import type { Run } from '../context/run.js';
import type { SettledRow } from '../row/settled-row.js';
import { isRead, type RepliedRow, type Task, type TaskOf } from '../row/task.js';
import { untilLeft } from './until-left.js';

/**
 * Does the tasks, each in a slot, and emits the rows that are paid and have a picture to save; all other rows end here. A
 * row keeps its slot until its reply or outcome is durable; a row that is emitted keeps it until `free` is called.
 */
export function buyRows(run: Run, tasks: AsyncIterable<Task>): Observable<SettledRow> {
  return new Observable((subscriber) => {
    const settled = new Subject<SettledRow>();
    const handOver = (row: Omit<SettledRow, 'free'>): Observable<never> => handed(row, settled);
    const { limit, limit$ = of(limit) } = run.slots;
    const told$ = limit$.pipe(tap((rows) => run.events.next({ type: 'concurrency', rows })));
    const { beside } = run;
    // Without a journal there is no reply to wait for: such an error ends the stream at once.
    const atOnce = catchError<JobEvent<unknown>, Observable<never>>((error: unknown) => {
      settled.error(error);
      return NEVER;
    });
    const project = (task: Task): Observable<JobEvent<unknown>> => {
      const performed = perform(run, task, handOver).pipe(atOnce);
      if (isOfEarlierStart(task)) return beside.counted(performed);
      return task.what === 'refuse' ? performed : beside.freed(task.row, performed);
    };
    const pulled = pullJobs(beside.passing(untilFault(run, tasks)), project, {
      concurrency: beside.slots(told$),
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
async function* untilFault(run: Run, tasks: AsyncIterable<Task>): AsyncGenerator<Task, void, void> {
  try {
    yield* tasks;
  } catch (error) {
    run.stops.stop({ ...exitOf(error), leaves: ['submits', 'polls', 'saves'] });
    throw error;
  }
}

/** What the manifest itself asks to collect was bought elsewhere, and keeps to the slots. */
function isOfEarlierStart(task: Task): boolean {
  return task.what === 'poll' && task.intent !== undefined;
}

type HandOver = (row: Omit<SettledRow, 'free'>) => Observable<never>;

/** Completes when somebody has taken the row over. */
function handed(row: Omit<SettledRow, 'free'>, settled: Subject<SettledRow>): Observable<never> {
  return new Observable((subscriber) => settled.next({ ...row, free: () => subscriber.complete() }));
}

function perform(run: Run, task: Task, handOver: HandOver): Observable<JobEvent<unknown>> {
  switch (task.what) {
    case 'send':
      return flight(run, task, handOver, buyRow);
    case 'poll':
      return flight(run, task, handOver, pollRow);
    case 'fetch':
      return task.replied === undefined
        ? fetchElsewhere(run, task, handOver)
        : handOver(toFetch(task, task.replied));
    case 'hold':
      return holdRow(run, task.row, task.code, task.attempts);
    case 'refuse':
      return refuseRow(run, task.invalid);
  }
}

function flight(
  run: Run,
  task: TaskOf<'send' | 'poll'>,
  handOver: HandOver,
  fly: (run: Run, row: RowRun) => Observable<JobEvent<unknown>>,
): Observable<JobEvent<unknown>> {
  return defer(() => {
    const row = new RowRun(task);
    const isElsewhere = task.what === 'poll' && task.intent === undefined;
    const noted = isElsewhere ? collecting(run, row, task.jobId) : EMPTY;
    const { id } = row;
    const events = concat(noted, fly(run, row)).pipe(
      tap((event) => run.events.next({ type: 'row', id, row: row.row.row, event })),
      untilLeft(row, run.stops),
      containFault(run, id),
      finalize(() => giveBack(run, row)),
    );
    return concat(
      events,
      defer(() => (row.reply === undefined ? EMPTY : handOver(settledOf(row, row.reply)))),
    );
  });
}

/** A row that was left before its POST keeps no money. */
function giveBack({ ledger }: Run, row: RowRun): void {
  if (row.phase === 'waiting' && !isRead(row.row)) ledger.release(row.id);
}

function settledOf(
  { row, intent, attempts }: RowRun,
  reply: RowRun['reply'] & object,
): Omit<SettledRow, 'free'> {
  return { row, intent: intent ?? intentOf(row, reply.at, attempts), reply, attempts, told: false };
}

function intentOf(row: RowRun['row'], at: number, attempt: number) {
  return intentRecord(row, { at, attempt, price: 0, takes: 'picture' });
}

function toFetch(
  { row, attempts }: TaskOf<'fetch'>,
  { intent, reply, told }: RepliedRow,
): Omit<SettledRow, 'free'> {
  return { row, intent, reply, attempts, told };
}

/** A picture that was bought in another run is noted like a reply of this one, but for its price. */
function fetchElsewhere(
  run: Run,
  { row, imageUrl, attempts }: TaskOf<'fetch'> & { imageUrl: string },
  handOver: HandOver,
): Observable<never> {
  return defer(() => {
    const at = run.options.scheduler.now();
    const intent = intentOf(row, at, attempts);
    const told = { at, id: row.id, cost: null, source: 'none', statusCalls: 0, submittedAt: at } as const;
    const reply: ReplyRecord = { k: 'reply', ...told, imageUrl, output: { image_url: imageUrl } };
    const noted = merge(run.journal.append(intent), run.journal.append(reply)).pipe(ignoreElements());
    return concat(noted, handOver({ row, intent, reply, attempts, told: true }));
  });
}
