import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { firstValueFrom, map, merge, ReplaySubject, Subject, timer } from 'rxjs';
import type { RunIdentity } from '../../batch/journal/record.js';
import { readPulse } from '../store/read-state.js';
import type { RunTerms } from '../records/run-terms.js';
import { createSweeper } from '../store/sweep.js';
import { channel } from '../records/database.js';
import { forgetWorker, heartbeatMs, noteWorker, sweepMs } from '../records/worker-record.js';
import { AnswerWriter } from './answer-writer.js';
import { WorkerSlots } from './worker-slots.js';
import { isAway } from '../database/database-error.js';
import { DatabaseLink } from '../database/database-link.js';
import { resolveWorkerOptions, type WorkerSettings, type WorkerOptions } from './worker-options.js';
import { ServedRun } from './served-run.js';
import { serveRun, type WorkerContext } from './serve-run.js';

export type { WorkStep, WorkerEvent, WorkerOptions } from './worker-options.js';

const searchMs = 1_000;

/**
 * Works on all runs of a database that use this worker's hosts, beside any number of other workers, until `stop` emits.
 * While the database is away the worker waits; answers that arrive meanwhile are kept and written when it is back.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  await new Worker(options).work();
}

class Worker {
  private readonly id = randomUUID();
  private readonly settings: WorkerSettings;
  private readonly slots: WorkerSlots;
  private readonly changed = new Subject<void>();
  private readonly ordered = new ReplaySubject<void>(1);
  private readonly cut = new ReplaySubject<void>(1);
  private readonly left = new ReplaySubject<void>(1);
  private readonly serving = new Map<number, Promise<void>>();
  private readonly foreign = new Set<number>();
  private readonly context: WorkerContext;
  private readonly link: DatabaseLink;
  private orders = 0;
  private submitted = 0;
  private ended = 0;

  constructor(private readonly options: WorkerOptions) {
    this.settings = resolveWorkerOptions(options);
    const { database, scheduler, random, notify, slots } = this.settings;
    this.slots = new WorkerSlots(slots);
    this.link = new DatabaseLink({
      ...{ shown: 'of the runs', scheduler, random, notify },
      ...{ left: this.ordered, cut: this.cut },
    });
    const reportFault = (error: unknown): void =>
      notify({ type: 'fault', message: error instanceof Error ? error.message : String(error) });
    this.context = {
      ...{ worker: this.id, slots: this.slots, changed: this.changed, link: this.link, reportFault },
      writer: new AnswerWriter(database, this.link, scheduler, reportFault),
      leaving: () => this.isLeaving,
      count: ({ is }) => this.count(is),
    };
  }

  async work(): Promise<void> {
    const { notify, database, scheduler } = this.settings;
    const orders = this.options.stop?.subscribe(() => this.stopOrdered());
    const listening = this.listen();
    await this.link.look(() => this.heartbeat());
    notify({ type: 'started', worker: this.id });
    const heartbeats = this.every(heartbeatMs, () => this.heartbeat());
    const sweeps = this.every(
      sweepMs,
      createSweeper(database, () => scheduler.now()),
    );
    try {
      await this.serve();
      await this.allDone();
    } finally {
      this.orders = Math.max(this.orders, 1);
      this.left.next();
      this.changed.next();
      orders?.unsubscribe();
      await Promise.all([heartbeats, sweeps, listening]);
      if (this.slots.busy === 0)
        await forgetWorker(this.settings.database.pool, this.id).catch(() => undefined);
    }
  }

  private get isLeaving(): boolean {
    return this.orders > 0;
  }

  private stopOrdered(): void {
    this.orders += 1;
    this.ordered.next();
    this.changed.next();
    if (this.orders > 1) this.cut.next();
  }

  private async allDone(): Promise<void> {
    await Promise.all(this.serving.values());
    while (this.slots.busy > 0 && this.orders < 2) await firstValueFrom(merge(this.slots.freed, this.cut));
  }

  private heartbeat(): Promise<void> {
    const { pool } = this.settings.database;
    const { does } = this.slots;
    return noteWorker(pool, { worker: this.id, host: hostname(), pid: process.pid, does });
  }

  /** Searches for runs, and works on each of them. */
  private async serve(): Promise<void> {
    while (!this.isLeaving) {
      const found = await this.link.look(() => this.search());
      for (const served of found ?? []) this.open(served);
      if (this.settings.once && this.serving.size === 0) return;
      const wait = timer(searchMs, this.settings.scheduler);
      await firstValueFrom(merge(wait, this.changed, ...(this.settings.once ? this.serving.values() : [])));
    }
  }

  private open(served: ServedRun): void {
    this.settings.notify({ type: 'run', run: served.run });
    const serving = serveRun(served, this.context)
      .catch((error: unknown) => this.context.reportFault(error))
      .finally(() => this.serving.delete(served.run));
    this.serving.set(served.run, serving);
  }

  private async search(): Promise<ServedRun[]> {
    const { pool } = this.settings.database;
    const { rows } = await pool.query<{ run: number; terms: RunTerms }>(
      `select run, terms from millrace.runs join millrace.ledgers using (run)
       where open + in_flight + saving > 0 and run <> all($1::int[])
         and (stop is null or (in_flight + saving > 0 and not stop::text like '%"polls"%')) order by run`,
      [[...this.serving.keys()]],
    );
    const found: ServedRun[] = [];
    for (const { run, terms } of rows) {
      if (!this.mayServe(run, terms.identity)) continue;
      const pulse = await readPulse(pool, run);
      if (pulse !== undefined) found.push(new ServedRun(run, terms, this.settings, pulse));
    }
    return found;
  }

  /** The key goes only to the hosts that this worker was given. */
  private mayServe(run: number, { baseUrl, lbBaseUrl }: RunIdentity): boolean {
    const { settings } = this;
    const isOurs =
      (baseUrl === '' || baseUrl === settings.baseUrl) &&
      (lbBaseUrl === '' || lbBaseUrl === settings.lbBaseUrl);
    if (!isOurs && !this.foreign.has(run)) {
      const host = baseUrl === settings.baseUrl ? lbBaseUrl : baseUrl;
      const message = `Run ${run} is against ${host}, and this worker was not given that host: others may do it.`;
      settings.notify({ type: 'foreign', run, message });
      this.foreign.add(run);
    }
    return isOurs;
  }

  /** Changes by others arrive at once by LISTEN; where it breaks, the regular looks still find them. */
  private async listen(): Promise<void> {
    const { pool } = this.settings.database;
    do {
      const client = await pool.connect().catch(() => undefined);
      if (client === undefined) continue;
      const broken = new Promise<void>((resolve) => client.once('error', () => resolve()));
      client.on('notification', () => this.changed.next());
      const listening = client.query(`listen ${channel}`).catch(() => undefined);
      await listening.then(() => Promise.race([broken, firstValueFrom(this.left)]));
      client.release(true);
    } while (await this.waitUnlessLeft(heartbeatMs));
  }

  private async every(periodMs: number, work: () => Promise<void>): Promise<void> {
    while (await this.waitUnlessLeft(periodMs))
      await work().catch((error: unknown) => {
        if (!isAway(error)) this.context.reportFault(error);
      });
  }

  /** Waits `afterMs`. Resolves to false when the worker has left meanwhile. */
  private waitUnlessLeft(afterMs: number): Promise<boolean> {
    const waited = timer(afterMs, this.settings.scheduler).pipe(map(() => true));
    return firstValueFrom(merge(this.left.pipe(map(() => false)), waited));
  }

  private count(is: string): void {
    if (is === 'accepted') this.submitted += 1;
    if (is === 'ended') this.ended += 1;
    if (is === 'accepted' || is === 'ended')
      this.settings.notify({ type: 'progress', submitted: this.submitted, ended: this.ended });
  }
}
