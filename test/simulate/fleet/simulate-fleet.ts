import { lastValueFrom, Subject } from 'rxjs';
import { createPriceBook } from '../../../runners/batch/ledger/price-book.js';
import { toPriceList } from '../../../runners/batch/ledger/price-list.js';
import {
  runBatch,
  type RunBatchOptions,
  type RunEvent,
  type StopOrder,
} from '../../../runners/batch/run-batch.js';
import { runDistributed } from '../../../runners/distributed/collector/run-distributed.js';
import { DatabaseError } from '../../../runners/distributed/database/database-error.js';
import { runWorker } from '../../../runners/distributed/worker/run-worker.js';
import { ForgetfulDisk } from '../../support/forgetful-disk.js';
import { seeded } from '../../support/seeded.js';
import type { OpenCallbackPort } from '../../../runners/batch/context/callback-port.js';
import { fairCalls } from '../callbacks.js';
import { checkBooks } from '../check-books.js';
import { diskOf } from '../life.js';
import { makeRows, manifestText, prices, type SimulatedRow } from '../rows.js';
import { Service } from '../service.js';
import { ValueCapWatch } from '../value-caps.js';
import { failureText, VirtualClock } from '../virtual-clock.js';
import { fairWeather, type Weather } from '../weather.js';
import { FakeDatabase, type DatabaseWeather } from './fake-database.js';
import { FleetLife } from './fleet-life.js';

/** What befalls a process, in ms since it began. */
export interface FleetFate {
  /** It dies at this call, counted from 1: a statement, a call of the disk, a request, an arrival. */
  readonly diesAtCall?: number;
  readonly freezes?: readonly { readonly afterMs: number; readonly forMs: number }[];
  readonly cuts?: readonly { readonly afterMs: number; readonly forMs: number }[];
  readonly stops?: readonly { readonly afterMs: number; readonly order: StopOrder }[];
  readonly skewMs?: number;
  readonly beginsMs?: number;
  /** A worker takes callbacks, about rows of any process. @defaultValue false */
  readonly listens?: boolean;
}

export interface CollectorFate extends FleetFate {
  /** A start without the database, where no row may be on its way. */
  readonly isLocal?: boolean;
  readonly options?: Partial<RunBatchOptions>;
}

export interface FleetSimulation {
  readonly seed: number;
  readonly rows: number;
  /** Of collectors, one after the other; those after the last are left in peace. */
  readonly collectors: readonly CollectorFate[];
  /** Of workers beside each other. A worker that has died or left is followed by the next one. */
  readonly workers: readonly FleetFate[];
  /** How many work beside each other. */
  readonly beside: number;
  readonly weather?: Weather;
  readonly database?: DatabaseWeather;
  /** When the database goes away, and when its clock is set, in ms since the beginning. */
  readonly away?: readonly { readonly afterMs: number; readonly forMs: number }[];
  readonly clockSet?: readonly { readonly afterMs: number; readonly byMs: number }[];
  /** The service calls back. @defaultValue false */
  readonly called?: boolean;
  readonly options?: Partial<RunBatchOptions>;
  /** Called with what happens, and at the end with the tables and the journal. */
  readonly watch?: (line: string) => void;
}

export interface SimulatedFleet {
  /** What is wrong; empty when every promise held. */
  readonly broken: string[];
  readonly exitCodes: (number | 'died')[];
  readonly workers: number;
  readonly lost: number;
}

const hourMs = 3_600_000;
const out = '/job/out';
const mostPeacefulStarts = 8;

/** A run over a database, with workers that come and go, until nothing is left to be done; then compares all books. */
export async function simulateFleet(simulation: FleetSimulation): Promise<SimulatedFleet> {
  const world = new FleetWorld(simulation);
  try {
    return await world.play();
  } catch (error) {
    return world.report([failureText(error)]);
  } finally {
    world.end();
  }
}

/** How long a row may take where no start says otherwise. */
const longestRowMs = 3_600_000;

class FleetWorld {
  private readonly clock = new VirtualClock();
  private readonly random: () => number;
  private readonly rows: SimulatedRow[];
  private readonly service: Service;
  private readonly database: FakeDatabase;
  private disk: ForgetfulDisk;
  private readonly broken: string[] = [];
  private readonly exitCodes: (number | 'died')[] = [];
  private readonly living = new Map<FleetLife, { stop: () => void; ended: Promise<unknown> }>();
  private begun = 0;
  private lost = 0;
  private isPeace = false;
  private lastStartAt = 0;
  private readonly valueCaps = new ValueCapWatch();

  constructor(private readonly simulation: FleetSimulation) {
    const { seed, rows } = simulation;
    this.random = seeded(seed);
    this.rows = makeRows(rows, this.random);
    this.service = new Service(this.clock, this.rows, this.random, seeded(seed + 0.5));
    this.service.weather = {
      ...(simulation.weather ?? fairWeather),
      calls: simulation.weather?.calls ?? fairCalls,
    };
    this.database = new FakeDatabase(this.clock, this.random);
    if (simulation.database !== undefined) this.database.weather = simulation.database;
    this.disk = new ForgetfulDisk({ random: this.random });
    this.disk.plant('/job/rows.jsonl', manifestText(this.rows, 'jsonl'));
  }

  async play(): Promise<SimulatedFleet> {
    const { collectors, away = [], clockSet = [], beside } = this.simulation;
    for (const { afterMs, forMs } of away) this.clock.in(afterMs, () => this.goAway(forMs));
    for (const { afterMs, byMs } of clockSet)
      this.clock.in(afterMs, () => {
        if (!this.isPeace) this.database.skewMs += byMs;
      });
    for (let place = 0; place < beside; place++) this.startWorker();
    for (let start = 0; start < collectors.length + mostPeacefulStarts; start++) {
      const fate = collectors[start] ?? {};
      if (start === collectors.length) this.makePeace();
      const { life, finished } = await this.collect(fate);
      this.exitCodes.push(finished?.exitCode ?? 'died');
      this.simulation.watch?.(
        `collector: ${finished === undefined ? 'died' : `${finished.exitCode}: ${finished.reason}`}`,
      );
      this.broken.push(...this.wrongWith(finished), ...this.service.broken, ...this.database.broken);
      life.die();
      this.broken.push(...(await this.valueCaps.crossed(this.disk, this.service.bill)));
      if (this.broken.length > 0) return this.report([]);
      if (start >= collectors.length && finished?.summary?.rows.toDo === 0)
        return this.report(await this.check(finished));
      this.disk = finished === undefined && this.random() < 0.5 ? this.disk.restart() : this.disk.handOver();
      this.clock.now += this.random() * 5_000;
    }
    return this.report(['the run does not come to its end']);
  }

  end(): void {
    const { watch = () => undefined } = this.simulation;
    const { records, ...tables } = this.database.committed;
    watch(JSON.stringify(tables, undefined, 1));
    for (const { seq, record } of records) watch(`${String(seq)} ${String(record)}`);
    watch(String(this.disk.peek(`${out}/journal.jsonl`)));
    for (const life of this.living.keys()) life.die();
  }

  report(more: string[]): SimulatedFleet {
    const { exitCodes, begun: workers, lost } = this;
    return { broken: [...this.broken, ...more], exitCodes, workers, lost };
  }

  private goAway(forMs: number): void {
    if (!this.isPeace) this.database.goAway(forMs);
  }

  private makePeace(): void {
    this.isPeace = true;
    this.service.weather = { ...fairWeather, calls: fairCalls };
    this.database.weather = { breaks: 0, lostCommits: 0, mostMs: 3 };
    this.database.comeBack();
    this.startWorker();
  }

  private lifeOf({ diesAtCall, skewMs = 0, freezes = [], cuts = [] }: FleetFate): FleetLife {
    const life = new FleetLife(this.clock, diesAtCall === undefined ? {} : { atCall: diesAtCall }, skewMs);
    for (const { id } of this.rows) life.pricedRows.add(id);
    const unlessPeace = (work: () => void) => () => {
      if (!this.isPeace && !life.isDead) work();
    };
    for (const { afterMs, forMs } of freezes)
      this.clock.in(
        afterMs,
        unlessPeace(() => life.freeze(forMs)),
      );
    for (const { afterMs, forMs } of cuts)
      this.clock.in(
        afterMs,
        unlessPeace(() => life.cut(forMs)),
      );
    return life;
  }

  private portOf(life: FleetLife): OpenCallbackPort {
    return this.service.line.openFor(life, () => life.awake());
  }

  private startWorker(): void {
    const fate = this.isPeace ? {} : (this.simulation.workers[this.begun] ?? {});
    this.begun += 1;
    this.clock.in(fate.beginsMs ?? 0, () => this.work(fate));
  }

  private work(fate: FleetFate): void {
    const life = this.lifeOf(fate);
    const { scheduler } = life;
    const stop = new Subject<void>();
    const { pool, queue } = this.database.connectedTo(life);
    const ended = runWorker({
      database: { pool, queue },
      baseUrl: 'http://queue.test',
      lbBaseUrl: 'http://routes.test',
      apiKey: 'canary-key-77a1',
      scheduler,
      random: this.random,
      stop,
      transport: (request) => life.reaching(this.service.transportFor(life)(request)),
      saveFrom: this.service.downloadFor(life),
      ...(fate.listens === true && { webhooks: { open: this.portOf(life) } }),
      notify: (event) => {
        if (life.isDead) return;
        if (event.type === 'lost') {
          this.lost += 1;
          life.wasCutOff = true;
        }
        if (event.type === 'fault') this.broken.push(`a worker: ${event.message}`);
        if (event.type !== 'progress')
          this.simulation.watch?.(`${this.clock.now % 1e8} ${JSON.stringify(event)}`);
      },
    }).catch((error: unknown) => this.broken.push(`a worker ended: ${(error as Error).stack}`));
    this.living.set(life, { stop: () => stop.next(), ended });
    const over = () => {
      if (!this.living.delete(life) || this.isPeace) return;
      life.die();
      this.startWorker();
    };
    void life.died.then(over);
    void ended.then(over);
    for (const { afterMs, order } of fate.stops ?? [])
      this.clock.in(afterMs, () => {
        if (life.isDead) return;
        if (order === 'now') life.wasCutOff = true;
        for (let times = order === 'now' ? 2 : 1; times > 0; times--) stop.next();
      });
  }

  private async collect(fate: CollectorFate) {
    const life = this.lifeOf(fate);
    const stop = new Subject<StopOrder>();
    for (const { afterMs, order } of fate.stops ?? []) this.clock.in(afterMs, () => stop.next(order));
    if (fate.isLocal === true && (fate.stops ?? []).some(({ order }) => order === 'now'))
      life.wasCutOff = true;
    const options = this.optionsFor(life, fate, stop);
    this.lastStartAt = this.clock.now;
    this.valueCaps.begin(options.maxCostByUsd?.['customer'] ?? undefined);
    const isOpen = this.disk.peek(`${out}/distributed.json`)?.includes('"isOpen":true') === true;
    const connect = () =>
      this.database.isAway
        ? Promise.reject(new DatabaseError('database-away', 'away'))
        : Promise.resolve(this.database.connectedTo(life));
    const run = fate.isLocal === true && !isOpen ? runBatch(options) : runDistributed(options, { connect });
    const events: RunEvent[] = [];
    run.subscribe((event) => {
      if (!life.isDead) events.push(event);
    });
    const end = lastValueFrom(run).then((event) => (event.type === 'finished' ? event : undefined));
    await this.clock.until(Promise.race([end, life.died]), 6 * hourMs);
    return { life, finished: life.isDead ? undefined : await end };
  }

  private optionsFor(life: FleetLife, fate: CollectorFate, stop: Subject<StopOrder>): RunBatchOptions {
    return {
      manifest: { path: '/job/rows.jsonl' },
      out,
      apiKey: 'canary-key-77a1',
      stop,
      ...(this.simulation.called === true && {
        manifest: { path: '/job/rows.jsonl', mode: 'async' },
        webhooks: { url: 'https://hooks.test/called', open: this.portOf(life) },
      }),
      baseUrl: 'http://queue.test',
      lbBaseUrl: 'http://routes.test',
      disk: diskOf(life, this.disk, () => 0),
      transport: (request) => life.reaching(this.service.transportFor(life)(request)),
      saveFrom: (request, onChunk) => life.reaching(this.service.downloadFor(life)(request, onChunk)),
      scheduler: life.scheduler,
      random: this.random,
      makeThumbnail: (picture) => Promise.resolve(picture.subarray(0, 20)),
      hold: () => Promise.resolve({ release: () => Promise.resolve() }),
      prices: createPriceBook(
        toPriceList({ endpoints: { grind: { usdPerJob: prices.job / 1e6 } }, route: prices.route / 1e6 }),
      ),
      ...this.simulation.options,
      ...fate.options,
      ...(this.isPeace && { maxCostUsd: null, maxCostByUsd: null }),
    };
  }

  private wrongWith(finished: Extract<RunEvent, { type: 'finished' }> | undefined): string[] {
    if (finished === undefined || ![2, 70, 74].includes(finished.exitCode)) return [];
    return [`exit ${finished.exitCode}: ${finished.reason}`];
  }

  private async check(finished: Extract<RunEvent, { type: 'finished' }>): Promise<string[]> {
    const { rows, service, disk } = this;
    const { options, collectors } = this.simulation;
    const retried = [options, ...collectors.map((fate) => fate.options)].some(
      (some) => some?.onUnknown === 'retry',
    );
    const { lastStartAt } = this;
    const asked = { retried, failedAgain: false, leftPictures: false };
    const books = { rows, service, disk, out, finished, lastStartAt, ...asked };
    const [ledger] = this.database.committed.ledgers;
    const left = ['reserved', 'waiting', 'inFlight', 'polled'].filter(
      (name) => ledger !== undefined && ledger[name] !== 0,
    );
    return [
      ...(await checkBooks(books)),
      ...left.map((name) => `${name} in the database is ${String(ledger?.[name])}`),
      ...(await this.sendHome()),
    ];
  }

  /** Workers that are stopped end as soon as what they have on the wire is answered, or the time of its row is over. */
  private async sendHome(): Promise<string[]> {
    const all = [...this.living];
    for (const [, { stop }] of all) stop();
    try {
      await this.clock.until(
        Promise.all(all.map(([life, { ended }]) => Promise.race([ended, life.died]))),
        longestRowMs + 300_000,
      );
      return [];
    } catch (error) {
      return [`a worker does not leave: ${(error as Error).message}`];
    }
  }
}
