import { lastValueFrom, Subject, takeUntil, tap, type Observable } from 'rxjs';
import type { PurchaseContext } from '../../batch/context/purchase-context.js';
import type { RunEvent } from '../../batch/context/run-event.js';
import { clockAhead } from '../../../src/policy/client-clock.js';
import { isUnlisted } from '../../batch/ledger/price-book.js';
import { isRead } from '../../batch/row/task.js';
import type { RowTask } from '../../batch/row/row-after.js';
import { buyRows, TaskFeed } from '../../batch/purchase/buy-rows.js';
import { savePictures } from '../../batch/pictures/save-pictures.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import { faultOf, stopForFault, troubleOf } from '../../batch/stop/exit-of.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { BrokenDatabase, isAway } from '../database/database-error.js';
import type { CalledWorker } from '../callbacks/called-worker.js';
import { storeJob } from '../callbacks/callbacks-table.js';
import { ServedCallbacks } from '../callbacks/served-callbacks.js';
import type { DatabaseLink } from '../database/database-link.js';
import { commitGroup, type Committed, type NextGroup, reserveMore } from '../table/commit-group.js';
import { releaseSeat } from '../table/release-rows.js';
import type { Claim } from '../table/rows.js';
import { noteBlocked, stopStart, type RunOrders } from '../table/runs.js';
import { DatabasePutBack, takeSeat, type Seat } from '../table/seats.js';
import type { WorkerDoes } from '../table/worker-record.js';
import type { HeldRow } from './group-in-waiting.js';
import { TableJournal } from './table-journal.js';
import { workerContext, WorkerStops } from './worker-context.js';
import { sharedGate, WorkerGate } from './worker-gate.js';
import type { WorkerSettings } from './worker-options.js';

/** How many jobs of earlier starts are polled at once. */
const mostPolled = 1_000;

export type ServedEnd =
  /** No row is left for this worker, the run stops, or the worker leaves. */
  | { readonly why: 'over' }
  /** The worker was declared dead. */
  | { readonly why: 'lost' }
  /** The service refuses this worker, or its machine fails: it can work on no run. */
  | { readonly why: 'trouble'; readonly cause: StopCause };

/** One worker's part in one start of a run: it takes rows, buys them as a local run does, and gives back the others. */
export class ServedRun {
  /** Emits for each request that is sent, and for each row that has ended at this worker. */
  readonly progress = new Subject<'submitted' | 'ended'>();
  private readonly events = new Subject<RunEvent>();
  private readonly stops = new WorkerStops(
    (cause) => this.judged(cause),
    () => this.finish(),
  );
  private readonly tasks = new TaskFeed();
  private readonly journal: TableJournal;
  private readonly gate: WorkerGate;
  private readonly context: PurchaseContext;
  /** `undefined` if the run has no callbacks. */
  private readonly callbacks: ServedCallbacks | undefined;
  private isSeated = false;
  private isFinished = false;
  private saving = 0;
  private trouble: StopCause | undefined;

  constructor(
    private readonly seat: Seat,
    private orders: RunOrders,
    private readonly settings: WorkerSettings,
    private readonly link: DatabaseLink,
    private readonly calls: CalledWorker,
  ) {
    const { terms, webhooks } = orders;
    const { random } = settings;
    const { pool } = settings.database;
    // Uses the database's clock, because the clocks of machines differ.
    const scheduler = clockAhead(settings.scheduler, orders.now - settings.scheduler.now());
    const shared = sharedGate(settings.database, { run: seat.run, isRated: terms.rate !== undefined }, link);
    this.gate = new WorkerGate(shared, { scheduler, random });
    this.journal = new TableJournal({
      commit: (group) => this.commit(group),
      reserve: (row) => link.insist(() => reserveMore(settings.database, seat, row)),
      scheduler,
      savesPictures: settings.artifacts !== undefined,
      claim: (rows) => this.claim(rows),
      isUnlisted: (task) => this.isUnlisted(task),
      onClaimed: (rows) => this.begin(rows),
      onFailed: () => void this.stops.order(stopCauses.interrupted('now', 0)),
      onLate: (late) => this.inBackground(() => storeJob(pool, seat.run, late)),
    });
    const { journal, gate, stops, events } = this;
    if (terms.webhookUrl !== undefined && webhooks !== undefined)
      this.callbacks = new ServedCallbacks(
        { ...webhooks, url: terms.webhookUrl },
        {
          pool,
          run: seat.run,
          scheduler,
          stopping$: stops.stopping$,
          insist: (question) => link.insist(question),
        },
      );
    const { callbacks } = this;
    this.context = {
      ...workerContext({ terms, settings, scheduler, journal, gate, stops, events, callbacks }),
      rowLeft: (id) => this.rowLeft(id),
    };
    events.subscribe((event) => this.follow(event));
    this.note(orders);
  }

  get isIdle(): boolean {
    return this.journal.held.size === 0 && this.orders.waiting === 0;
  }

  get does(): WorkerDoes {
    const does = { sends: 0, polls: 0, saves: this.saving };
    for (const row of this.journal.held.values()) if (row.does !== undefined) does[row.does] += 1;
    return { ...does, sends: Math.max(does.sends - this.saving, 0) };
  }

  /** Works until no row is left for it. */
  async serve(): Promise<ServedEnd> {
    const { database, artifacts } = this.settings;
    const { context, tasks, stops, link, seat } = this;
    await link.insist(() => takeSeat(database.pool, seat));
    this.isSeated = true;
    this.journal.wake();
    const unlisten = this.callbacks?.listenAt(this.calls);
    const paid = buyRows(context, tasks).pipe(
      tap(({ row, free }) => {
        if (artifacts !== undefined) return void (this.saving += 1);
        this.progress.next('ended');
        this.drop(row.id);
        free();
      }),
    );
    const work: Observable<unknown> = artifacts === undefined ? paid : savePictures(context)(paid);
    const left = work.pipe(takeUntil(stops.left('sent')));
    const fault = await lastValueFrom(left, { defaultValue: undefined }).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    unlisten?.();
    await this.journal.close();
    if (this.journal.isLost) return { why: 'lost' };
    const { cause: why } = this.journal;
    const error = why instanceof BrokenDatabase || why instanceof DatabasePutBack ? why : fault?.error;
    if (why instanceof DatabasePutBack) await this.stopAll(why);
    const cause = error === undefined ? this.trouble : troubleOf(error);
    await link
      .insist(() => releaseSeat(database, seat))
      .catch((unreleased: unknown) => {
        // A worker that ends leaves its seat: it is taken for dead.
        if (!isAway(unreleased) && cause === undefined) throw unreleased;
      });
    return cause === undefined ? { why: 'over' } : { why: 'trouble', cause };
  }

  /** Obeys the orders in the database; `undefined` means that the run is over. */
  note(orders: RunOrders | undefined): void {
    if (orders === undefined || orders.start !== this.orders.start) {
      this.stops.order(stopCauses.interrupted('graceful', 0));
      return;
    }
    this.orders = orders;
    if (orders.areCalled) this.wasCalled(undefined);
    if (orders.pausedMs > 0) this.gate.hold(orders.pausedMs);
    for (const { cost, ...row } of orders.prices) this.context.money.prices.observe(row, cost);
    if (orders.stop !== undefined) this.stops.order(orders.stop);
    else if (orders.waiting > 0) this.journal.wake();
  }

  /** Rows may be waiting in the queue. */
  wake(): void {
    this.journal.wake();
  }

  /** Call this when a stored callback waits for the process that has this row; `undefined` if the row's name was too long. */
  wasCalled(row: string | undefined): void {
    const { held } = this.journal;
    if (row === undefined) this.callbacks?.look(held.keys());
    else this.callbacks?.wasCalled(row, held.has(row));
  }

  /** Takes no more rows. Requests on the wire are awaited, unless `how` is `now`. */
  leave(how: 'graceful' | 'now'): void {
    this.stops.order(stopCauses.interrupted(how, 0));
  }

  /** Takes no more rows, except those that a group on its way brings: their prices are already reserved. */
  finish(): void {
    this.isFinished = true;
    void this.journal.written().then(() => this.tasks.close());
  }

  private async commit(group: NextGroup): Promise<Committed> {
    const committed = await this.link.insist(() => commitGroup(this.settings.database, this.seat, group));
    if (committed.isMoved) stopForFault(this.stops, new DatabasePutBack('moved'));
    return committed;
  }

  private claim(rows: number): Claim | undefined {
    if (this.isFinished || !this.isSeated) return undefined;
    const send = this.context.service.slots.limit - rows;
    const poll = mostPolled - rows;
    if (send < 1 && poll < 1) return undefined;
    const { prices } = this.context.money;
    return {
      worker: this.seat.worker,
      start: this.orders.start,
      has: rows,
      most: { send, poll },
      priceOf: ({ row }) => (isRead(row) ? 0 : prices.priceOf(row)),
    };
  }

  /** What earlier starts have bought was agreed to in them. */
  private isUnlisted(task: RowTask): boolean {
    const isEarlier = task.what === 'poll' && task.intent !== undefined && task.isOfThisStart !== true;
    return !isEarlier && isUnlisted(this.context.money.prices.table(), task.row);
  }

  private begin(rows: readonly HeldRow[]): void {
    const { callbacks } = this;
    const again: RowTask[] = [];
    for (const { task } of rows) {
      if (callbacks !== undefined && task.what === 'send' && task.attempts > 0) again.push(task);
      else void this.tasks.give(task);
    }
    if (again.length > 0) void this.beginAgain(again).catch(() => undefined);
  }

  /** The collector continues rows whose jobs are named meanwhile. */
  private async beginAgain(tasks: readonly RowTask[]): Promise<void> {
    const named = await this.callbacks?.namedAmong(tasks);
    for (const task of tasks) {
      if (named?.has(task) !== true) void this.tasks.give(task);
      else {
        this.drop(task.row.id);
        this.journal.leave(task.row.id);
      }
    }
  }

  private rowLeft(id: string): void {
    const row = this.journal.held.get(id)?.task.row;
    this.drop(id);
    if (this.callbacks?.takeLeft(id) === true) return this.journal.leave(id);
    const { blocked } = this.context.service;
    if (row === undefined || !blocked.has(row)) return;
    const { message } = blocked;
    // Written before the row leaves, because the run may end with it.
    const noted = this.link.insist(() =>
      noteBlocked(this.settings.database, this.seat.run, row.endpoint, message),
    );
    void noted.catch(() => undefined).then(() => this.journal.leave(id));
  }

  private follow(event: RunEvent): void {
    if (event.type === 'row' && event.event.type === 'accepted') this.doing(event.id, 'polls');
    if (event.type === 'row' && event.event.type === 'submitting') this.progress.next('submitted');
    if (event.type !== 'ended') return;
    this.progress.next('ended');
    this.saving = Math.max(this.saving - 1, 0);
    this.drop(event.id);
  }

  private doing(id: string, what: HeldRow['does']): void {
    const row = this.journal.held.get(id);
    if (row !== undefined) row.does = what;
  }

  private drop(id: string): void {
    this.doing(id, undefined);
    this.callbacks?.rowEnded(id);
  }

  /** Turns a cause that concerns only this worker into the end of its part in the run. Money concerns the whole run. */
  private judged(cause: StopCause): StopCause {
    if (cause.exitCode === 3 || cause.exitCode === 6) {
      const { run, start } = this.orders;
      this.inBackground(() => stopStart(this.settings.database, { run, start }, cause));
      return cause;
    }
    this.trouble ??= cause;
    return { ...cause, leaves: ['open', 'accepted', 'replied'] };
  }

  /** Other workers may have lost nothing, and would buy the rows that the database has forgotten. */
  private async stopAll(error: DatabasePutBack): Promise<void> {
    const { run, start } = this.orders;
    await this.link
      .insist(() => stopStart(this.settings.database, { run, start }, faultOf(error)))
      .catch(() => undefined);
  }

  private inBackground(write: () => Promise<void>): void {
    this.link.insist(write).catch(() => undefined);
  }
}
