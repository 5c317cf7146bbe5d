import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { firstValueFrom, map, merge, ReplaySubject, Subject, timer } from 'rxjs';
import type { RunIdentity } from '../../batch/journal/record.js';
import { readPulse } from '../store/read-state.js';
import type { RunTerms } from '../records/run-terms.js';
import { createSweeper } from '../store/sweep.js';
import { channel } from '../records/database.js';
import { forgetWorker, noteWorker } from '../records/worker-record.js';
import { AnswerWriter } from './answer-writer.js';
import { Hands } from './worker-slots.js';
import { isAway } from '../database/database-error.js';
import { Line } from '../database/database-link.js';
import { partsOf, type Parts, type WorkerOptions } from './worker-options.js';
import { RunDesk } from './served-run.js';
import { serveRun, type Workplace } from './serve-run.js';

export type { PieceStep, WorkerEvent, WorkerOptions } from './worker-options.js';

const beatMs = 5_000;
const sweepMs = 10_000;
const searchMs = 1_000;

/**
 * Works on all runs of a database that are against its hosts, beside any number of others, until it is told to stop.
 * While the database is away it waits; what is on the wire then is kept and written when it is back.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  await new Worker(options).work();
}

class Worker {
  private readonly id = randomUUID();
  private readonly parts: Parts;
  private readonly hands: Hands;
  private readonly stirred = new Subject<void>();
  private readonly ordered = new ReplaySubject<void>(1);
  private readonly cut = new ReplaySubject<void>(1);
  private readonly left = new ReplaySubject<void>(1);
  private readonly serving = new Map<number, Promise<void>>();
  private readonly foreign = new Set<number>();
  private readonly place: Workplace;
  private readonly line: Line;
  private orders = 0;
  private submitted = 0;
  private ended = 0;

  constructor(private readonly options: WorkerOptions) {
    this.parts = partsOf(options);
    const { database, scheduler, random, tell, slots } = this.parts;
    this.hands = new Hands(slots);
    this.line = new Line({ scheduler, random, left: this.ordered, cut: this.cut, tell });
    const faulty = (error: unknown): void =>
      tell({ type: 'fault', message: error instanceof Error ? error.message : String(error) });
    this.place = {
      ...{ worker: this.id, hands: this.hands, stirred: this.stirred, line: this.line, faulty },
      writer: new AnswerWriter(database, this.line, scheduler, faulty),
      leaving: () => this.isLeaving,
      count: ({ is }) => this.count(is),
    };
  }

  async work(): Promise<void> {
    const { tell, database, scheduler } = this.parts;
    const orders = this.options.stop?.subscribe(() => this.obey());
    const ears = this.listen();
    await this.line.look(() => this.beat());
    tell({ type: 'started', worker: this.id });
    const beats = this.every(beatMs, () => this.beat());
    const sweeps = this.every(
      sweepMs,
      createSweeper(database, () => scheduler.now()),
    );
    try {
      await this.serve();
      await this.handsEmpty();
    } finally {
      this.orders = Math.max(this.orders, 1);
      this.left.next();
      this.stirred.next();
      orders?.unsubscribe();
      await Promise.all([beats, sweeps, ears]);
      if (this.hands.busy === 0) await forgetWorker(this.parts.database.pool, this.id).catch(() => undefined);
    }
  }

  private get isLeaving(): boolean {
    return this.orders > 0;
  }

  private obey(): void {
    this.orders += 1;
    this.ordered.next();
    this.stirred.next();
    if (this.orders > 1) this.cut.next();
  }

  private async handsEmpty(): Promise<void> {
    await Promise.all(this.serving.values());
    while (this.hands.busy > 0 && this.orders < 2) await firstValueFrom(merge(this.hands.freed, this.cut));
  }

  private beat(): Promise<void> {
    const { pool } = this.parts.database;
    const { does } = this.hands;
    return noteWorker(pool, { worker: this.id, host: hostname(), pid: process.pid, does });
  }

  /** Looks for runs, and works on each of them. */
  private async serve(): Promise<void> {
    while (!this.isLeaving) {
      const found = await this.line.look(() => this.search());
      for (const desk of found ?? []) this.open(desk);
      if (this.parts.once && this.serving.size === 0) return;
      const wait = timer(searchMs, this.parts.scheduler);
      await firstValueFrom(merge(wait, this.stirred, ...(this.parts.once ? this.serving.values() : [])));
    }
  }

  private open(desk: RunDesk): void {
    this.parts.tell({ type: 'run', run: desk.run });
    const served = serveRun(desk, this.place)
      .catch((error: unknown) => this.place.faulty(error))
      .finally(() => this.serving.delete(desk.run));
    this.serving.set(desk.run, served);
  }

  private async search(): Promise<RunDesk[]> {
    const { pool } = this.parts.database;
    const { rows } = await pool.query<{ run: number; terms: RunTerms }>(
      `select run, terms from millrace.runs join millrace.ledgers using (run)
       where open + in_flight + saving > 0 and run <> all($1::int[])
         and (stop is null or (in_flight + saving > 0 and not stop::text like '%"polls"%')) order by run`,
      [[...this.serving.keys()]],
    );
    const desks: RunDesk[] = [];
    for (const { run, terms } of rows) {
      if (!this.mayServe(run, terms.identity)) continue;
      const pulse = await readPulse(pool, run);
      if (pulse !== undefined) desks.push(new RunDesk(run, terms, this.parts, pulse));
    }
    return desks;
  }

  /** The key goes to the hosts that this worker was given, to no other. */
  private mayServe(run: number, { baseUrl, lbBaseUrl }: RunIdentity): boolean {
    const { parts } = this;
    const isOurs =
      (baseUrl === '' || baseUrl === parts.baseUrl) && (lbBaseUrl === '' || lbBaseUrl === parts.lbBaseUrl);
    if (!isOurs && !this.foreign.has(run)) {
      const host = baseUrl === parts.baseUrl ? lbBaseUrl : baseUrl;
      const message = `Run ${run} is against ${host}, and this worker was not given that host: others may do it.`;
      parts.tell({ type: 'foreign', run, message });
      this.foreign.add(run);
    }
    return isOurs;
  }

  /** What others change is heard at once; without it there is a look now and then all the same. */
  private async listen(): Promise<void> {
    const { pool } = this.parts.database;
    do {
      const client = await pool.connect().catch(() => undefined);
      if (client === undefined) continue;
      const broken = new Promise<void>((resolve) => client.once('error', () => resolve()));
      client.on('notification', () => this.stirred.next());
      const heard = client.query(`listen ${channel}`).catch(() => undefined);
      await heard.then(() => Promise.race([broken, firstValueFrom(this.left)]));
      client.release(true);
    } while (await this.goesOn(beatMs));
  }

  private async every(periodMs: number, work: () => Promise<void>): Promise<void> {
    while (await this.goesOn(periodMs))
      await work().catch((error: unknown) => {
        if (!isAway(error)) this.place.faulty(error);
      });
  }

  /** Waits so long. False: the worker has left meanwhile. */
  private goesOn(afterMs: number): Promise<boolean> {
    const waited = timer(afterMs, this.parts.scheduler).pipe(map(() => true));
    return firstValueFrom(merge(this.left.pipe(map(() => false)), waited));
  }

  private count(is: string): void {
    if (is === 'accepted') this.submitted += 1;
    if (is === 'ended') this.ended += 1;
    if (is === 'accepted' || is === 'ended')
      this.parts.tell({ type: 'progress', submitted: this.submitted, ended: this.ended });
  }
}
