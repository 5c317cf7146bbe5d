import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  exhaustMap,
  firstValueFrom,
  lastValueFrom,
  merge,
  ReplaySubject,
  Subject,
  takeUntil,
  timer,
} from 'rxjs';
import type { CallbackPort } from '../../batch/context/callback-port.js';
import { openCallbackPort } from '../../batch/callbacks/open-callback-port.js';
import { troubleOf } from '../../batch/stop/exit-of.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { worstEnd } from '../../batch/stop/worst-end.js';
import { CalledWorker } from '../callbacks/called-worker.js';
import { isAway } from '../database/database-error.js';
import { DatabaseLink } from '../database/database-link.js';
import { listen } from '../database/listen.js';
import { workChannel } from '../database/transaction.js';
import { whyForeign, type RunTerms } from '../table/run-terms.js';
import { readOrders, type RunOrders } from '../table/runs.js';
import {
  createSweeper,
  forgetWorker,
  heartbeatMs,
  noteTrouble,
  noteWorker,
  sweepMs,
} from '../table/worker-record.js';
import type { Seat } from '../table/seats.js';
import { ServedRun, type ServedEnd } from './serve-run.js';
import { resolveWorkerOptions, type WorkerSettings, type WorkerOptions } from './worker-options.js';

export type { WorkerEvent, WorkerOptions } from './worker-options.js';

/** How often the worker looks for runs when no notification arrives. */
const lookMs = 5_000;

/**
 * Works on all runs of a database that use this worker's hosts, together with any number of other workers, until `stop` emits.
 * While the database is away the worker waits, and keeps answers that arrive to write them later.
 *
 * @returns why the worker could not continue, unless it was stopped: the service refuses it, or its machine fails.
 */
export async function runWorker(options: WorkerOptions): Promise<StopCause | undefined> {
  return new Worker(options).work();
}

interface Serving {
  readonly served: ServedRun;
  /** The worker's name in the seat. */
  readonly worker: string;
  readonly done: Promise<void>;
}

class Worker {
  private id = randomUUID();
  private readonly settings: WorkerSettings;
  private readonly looks = new Subject<void>();
  private readonly ordered = new ReplaySubject<void>(1);
  private readonly cut = new ReplaySubject<void>(1);
  private readonly left = new ReplaySubject<void>(1);
  private readonly serving = new Map<number, Serving>();
  private readonly foreign = new Set<number>();
  private readonly link: DatabaseLink;
  private readonly calls: CalledWorker;
  private orders = 0;
  private counts = { submitted: 0, ended: 0 };
  private trouble: StopCause | undefined;

  constructor(private readonly options: WorkerOptions) {
    this.settings = resolveWorkerOptions(options);
    const { scheduler, random, notify, database } = this.settings;
    this.calls = new CalledWorker({ pool: database.pool, scheduler });
    this.link = new DatabaseLink({
      shown: 'of the runs',
      scheduler,
      random,
      notify,
      left: this.ordered,
      cut: this.cut,
    });
  }

  async work(): Promise<StopCause | undefined> {
    const { notify, database, scheduler } = this.settings;
    const port = await this.listen();
    const orders = this.options.stop?.subscribe(() => this.stopOrdered());
    const woken = (payload: string) => this.woken(payload);
    const listening = listen(database.pool, workChannel, { woken, left: this.left, scheduler });
    await this.link.look(() => this.heartbeat()).catch((error: unknown) => this.cannotLook(error));
    notify({ type: 'started', worker: this.id });
    const heartbeats = this.every(heartbeatMs, () => this.heartbeat());
    const own = () => ({ worker: this.id, has: (run: number) => this.serving.has(run) });
    const sweeps = this.every(
      sweepMs,
      createSweeper(database, () => scheduler.now(), own),
    );
    try {
      await this.serve().catch((error: unknown) => this.cannotLook(error));
      await Promise.all([...this.serving.values()].map(({ done }) => done));
    } finally {
      this.orders = Math.max(this.orders, 1);
      this.ordered.next();
      this.left.next();
      orders?.unsubscribe();
      await port?.close();
      const forget = () => forgetWorker(database.pool, this.id);
      await this.link
        .look(() => Promise.all([heartbeats, sweeps, listening]).then(forget))
        .catch(() => undefined);
    }
    return this.trouble;
  }

  /** Opens the port for callbacks before any row is taken. */
  private async listen(): Promise<CallbackPort | undefined> {
    const { webhooks } = this.settings;
    if (webhooks === undefined) return undefined;
    const { open = openCallbackPort, host = '127.0.0.1', port = 8_787 } = webhooks;
    const opened = await open({ host, port });
    this.calls.takeFrom(opened);
    return opened;
  }

  private stopOrdered(): void {
    this.orders += 1;
    this.ordered.next();
    if (this.orders > 1) this.cut.next();
    for (const { served } of this.serving.values()) served.leave(this.orders > 1 ? 'now' : 'graceful');
    this.looks.next();
  }

  /** Sends heartbeats for its former ids too: it may still have seats under them at other runs. */
  private async heartbeat(): Promise<void> {
    const serving = [...this.serving.values()];
    for (const worker of new Set([this.id, ...serving.map((one) => one.worker)])) {
      const does = { sends: 0, polls: 0, saves: 0 };
      for (const { served } of serving.filter((one) => one.worker === worker)) {
        const { sends, polls, saves } = served.does;
        does.sends += sends;
        does.polls += polls;
        does.saves += saves;
      }
      const { pool } = this.settings.database;
      await noteWorker(pool, { worker, host: hostname(), pid: process.pid, does });
    }
  }

  /** Handles a notification: `RUN rows`, `RUN orders` or `RUN called "ROW"`. */
  private woken(payload: string): void {
    const [run, why, ...row] = payload.split(' ');
    const known = this.serving.get(Number(run));
    if (why === 'called')
      known?.served.wasCalled(row.length === 0 ? undefined : (JSON.parse(row.join(' ')) as string));
    else if (why === 'rows' && known !== undefined) known.served.wake();
    else this.looks.next();
  }

  /** Finds runs and works on each of them. */
  private async serve(): Promise<void> {
    while (this.orders === 0) {
      const woken = firstValueFrom(merge(this.looks, timer(lookMs, this.settings.scheduler)));
      const found = await this.link.look(() => readOrders(this.settings.database, [...this.serving.keys()]));
      if (found !== undefined) this.look(found);
      await woken;
    }
  }

  /** Its requests on the wire are awaited. Collectors learn why their last worker has left. */
  private async cannotLook(error: unknown): Promise<void> {
    const cause = troubleOf(error);
    this.trouble = cause;
    if (this.orders === 0) this.stopOrdered();
    const { database } = this.settings;
    const seats = [...this.serving].map(([run, { worker }]) => ({ run, worker }));
    for (const seat of seats) await noteTrouble(database, seat, cause).catch(() => undefined);
  }

  private look(found: readonly RunOrders[]): void {
    const orders = new Map(found.map((one) => [one.run, one]));
    for (const [run, { served }] of this.serving) {
      served.note(orders.get(run));
      if (served.isIdle) served.finish();
    }
    for (const one of found)
      if (this.orders === 0 && !this.serving.has(one.run) && one.waiting > 0 && one.stop === undefined)
        this.open(one);
  }

  private open(orders: RunOrders): void {
    const { run, terms } = orders;
    if (!this.mayServe(run, terms)) return;
    const seat = { run, worker: this.id };
    const served = new ServedRun(seat, orders, this.settings, this.link, this.calls);
    served.progress.subscribe((what) => this.count(what));
    this.settings.notify({ type: 'run', run });
    const done = served
      .serve()
      .then((end) => this.after(end, seat))
      .then(
        () => true,
        (error: unknown) => this.broken(error, seat),
      )
      .then((looksAgain) => {
        this.serving.delete(run);
        if (looksAgain) this.looks.next();
      });
    this.serving.set(run, { served, worker: seat.worker, done });
  }

  /** The seat may not be given up, with rows that this process knows no more. The next look is soon enough to go on. */
  private async broken(error: unknown, seat: Seat): Promise<false> {
    this.settings.notify({ type: 'fault', message: (error as Error).message });
    await this.leaveSeat(seat).catch(() => undefined);
    return false;
  }

  /** Other workers have its rows, or will. It continues under a new id, as one new worker, whichever runs it has lost. */
  private async leaveSeat({ worker }: Seat): Promise<void> {
    if (worker === this.id) this.id = randomUUID();
    await this.link.look(() => this.heartbeat());
  }

  private async after(end: ServedEnd, seat: Seat): Promise<void> {
    if (end.why === 'trouble') {
      this.trouble ??= end.cause;
      this.trouble = { ...end.cause, ...worstEnd([this.trouble, end.cause]) };
      await this.link
        .insist(() => noteTrouble(this.settings.database, seat, end.cause))
        .catch(() => undefined);
      // Trying again would be refused again.
      if (this.orders === 0) this.stopOrdered();
    }
    if (end.why !== 'lost') return;
    const message = `it was declared dead: other workers continue its rows of run ${seat.run}`;
    this.settings.notify({ type: 'lost', message });
    await this.leaveSeat(seat);
  }

  private mayServe(run: number, terms: RunTerms): boolean {
    const why = whyForeign(terms, this.settings);
    if (why !== undefined && !this.foreign.has(run)) {
      this.settings.notify({ type: 'foreign', run, message: `Run ${run} ${why}: others may do it.` });
      this.foreign.add(run);
    }
    return why === undefined;
  }

  private every(periodMs: number, work: () => Promise<void>): Promise<void> {
    const { scheduler, notify } = this.settings;
    const note = (error: unknown): void => {
      if (!isAway(error)) notify({ type: 'fault', message: (error as Error).message });
    };
    const turns = timer(periodMs, periodMs, scheduler).pipe(
      takeUntil(this.left),
      exhaustMap(() => work().catch(note)),
    );
    return lastValueFrom(turns, { defaultValue: undefined });
  }

  private count(what: 'submitted' | 'ended'): void {
    this.counts = { ...this.counts, [what]: this.counts[what] + 1 };
    this.settings.notify({ type: 'progress', ...this.counts });
  }
}
