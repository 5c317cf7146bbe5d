import { lastValueFrom, Subject } from 'rxjs';
import { openDayLedger } from '../../../runners/batch/ledger/day-ledger.js';
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
  /**
   * It stands still, and the next start begins meanwhile, in a copy of its folder. Not played where the folder does not say yet that
   * rows may be in the database: a copy of such a folder is another run.
   */
  readonly overtaken?: { readonly afterMs: number; readonly forMs: number };
  readonly options?: Partial<RunBatchOptions>;
}

/** A further run over the same database, from a folder on a machine of its own. */
export interface OtherRun {
  readonly rows: number;
  /** This many of them come into its manifest between its first two starts, before the others. @defaultValue 0 */
  readonly late?: number;
  readonly beginsMs: number;
  readonly collectors: readonly CollectorFate[];
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
  /** When a standby that has all of it takes its place: once the run has stopped, a person says that nothing is missing. */
  readonly switchovers?: readonly {
    readonly afterMs: number;
    readonly forMs: number;
    readonly lost?: number;
  }[];
  readonly clockSet?: readonly { readonly afterMs: number; readonly byMs: number }[];
  /** Runs beside it, whose collectors and rows are there at the same time. @defaultValue none */
  readonly others?: readonly OtherRun[];
  /** The cap of a day that all of these runs share, until they are left in peace. @defaultValue none */
  readonly dayCapUsd?: number;
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

/** One of the runs: its folder, what is to befall its starts, and what they have come to. */
class FleetRun {
  readonly out: string;
  readonly manifest: string;
  disk: ForgetfulDisk;
  readonly valueCaps = new ValueCapWatch();
  readonly exitCodes: (number | 'died')[] = [];
  repairs = false;
  lastStartAt = 0;
  /** In US dollars; once a start had none, there is none. */
  cap = 0;

  constructor(
    place: number,
    readonly rows: readonly SimulatedRow[],
    readonly collectors: readonly CollectorFate[],
    readonly beginsMs: number,
    readonly late: number,
    random: () => number,
  ) {
    const job = place === 0 ? '/job' : `/job-${place}`;
    this.out = `${job}/out`;
    this.manifest = `${job}/rows.jsonl`;
    this.disk = new ForgetfulDisk({ random });
    this.writeManifest(late);
  }

  /** Without its first rows. */
  writeManifest(from: number): void {
    this.disk.plant(this.manifest, manifestText(this.rows.slice(from), 'jsonl'));
  }

  /** What the service has done for its rows alone. */
  of(service: Service): Service {
    const ids = new Set(this.rows.map(({ id }) => id));
    return Object.assign(Object.create(service) as Service, {
      posts: service.posts.filter(({ row }) => ids.has(row)),
      bill: new Map([...service.bill].filter(([id]) => ids.has(id))),
    });
  }
}

function copyOf(disk: ForgetfulDisk): ForgetfulDisk {
  const copy = new ForgetfulDisk({ random: () => 0.5 });
  for (const path of disk.paths()) copy.plant(path, Buffer.from(disk.peek(path) ?? ''));
  return copy;
}

function billed({ bill }: Service): number {
  return [...bill.values()].reduce((sum, amount) => sum + amount, 0);
}

class FleetWorld {
  private readonly clock = new VirtualClock();
  private readonly random: () => number;
  private readonly runs: readonly FleetRun[];
  private readonly service: Service;
  private readonly database: FakeDatabase;
  /** With the ledger that the runs share. */
  private readonly state = new ForgetfulDisk({ random: () => 0.5 });
  private stateIsFree: Promise<unknown> = Promise.resolve();
  private readonly broken: string[] = [];
  private readonly living = new Map<FleetLife, { stop: () => void; ended: Promise<unknown> }>();
  private readonly overtaken: FleetLife[] = [];
  private begun = 0;
  private lost = 0;
  private isPeace = false;
  private hasLost = false;

  constructor(private readonly simulation: FleetSimulation) {
    const { seed, rows, collectors, others = [] } = simulation;
    this.random = seeded(seed);
    const first = makeRows(rows, this.random);
    this.runs = [
      new FleetRun(0, first, collectors, 0, 0, this.random),
      ...others.map(
        (other, place) =>
          new FleetRun(
            place + 1,
            makeRows(other.rows, this.random, 96 * (place + 1)),
            other.collectors,
            other.beginsMs,
            other.collectors.length > 0 ? (other.late ?? 0) : 0,
            this.random,
          ),
      ),
    ];
    const all = this.runs.flatMap((run) => run.rows);
    this.service = new Service(this.clock, all, this.random, seeded(seed + 0.5));
    this.service.weather = {
      ...(simulation.weather ?? fairWeather),
      calls: simulation.weather?.calls ?? fairCalls,
    };
    this.database = new FakeDatabase(this.clock, this.random);
    if (simulation.database !== undefined) this.database.weather = simulation.database;
  }

  async play(): Promise<SimulatedFleet> {
    const { away = [], switchovers = [], clockSet = [], beside } = this.simulation;
    for (const { afterMs, forMs } of away) this.clock.in(afterMs, () => this.goAway(forMs));
    for (const { afterMs, forMs, lost } of switchovers)
      this.clock.in(afterMs, () => {
        if (this.isPeace) return;
        this.hasLost ||= (lost ?? 0) > 0;
        this.database.switchOver(forMs, lost);
      });
    for (const { afterMs, byMs } of clockSet)
      this.clock.in(afterMs, () => {
        if (!this.isPeace) this.database.skewMs += byMs;
      });
    for (let place = 0; place < beside; place++) this.startWorker();
    const [first] = this.runs;
    if (this.runs.length === 1 && first !== undefined) await this.playRun(first);
    else await this.clock.until(Promise.all(this.runs.map((run) => this.playRun(run))), 48 * hourMs);
    return this.report(this.broken.length > 0 ? [] : await this.sendHome());
  }

  private async playRun(run: FleetRun): Promise<void> {
    const { collectors } = run;
    await this.pass(run.beginsMs);
    for (let start = 0; start < collectors.length + mostPeacefulStarts; start++) {
      const isAtPeace = start >= collectors.length;
      if (start === collectors.length) this.makePeace();
      if (start === 1 && run.late > 0) run.writeManifest(0);
      const { life, finished, isOvertaken } = await this.collect(run, collectors[start] ?? {}, isAtPeace);
      run.exitCodes.push(finished?.exitCode ?? 'died');
      this.simulation.watch?.(
        `collector of ${run.out}: ${finished === undefined ? 'died' : `${finished.exitCode}: ${finished.reason}`}`,
      );
      this.broken.push(...this.wrongWith(finished), ...this.service.broken, ...this.database.broken);
      if (!isOvertaken) life.die();
      run.repairs = false;
      if (isMoved(finished?.reason)) this.confirm(run);
      this.broken.push(...(await this.aboveCaps(run, isAtPeace)));
      if (this.broken.length > 0) return;
      if (isAtPeace && finished?.summary?.rows.toDo === 0) {
        this.broken.push(...(await this.check(run, finished)));
        return;
      }
      if (isOvertaken) run.disk = copyOf(run.disk);
      else
        run.disk = finished === undefined && this.random() < 0.5 ? run.disk.restart() : run.disk.handOver();
      await this.pass(this.random() * 5_000);
    }
    this.broken.push('the run does not come to its end');
  }

  /** Alone, a run has nothing beside it that time passes for. */
  private async pass(ms: number): Promise<void> {
    if (this.runs.length === 1) this.clock.now += ms;
    else await new Promise<void>((resolve) => this.clock.in(ms, resolve));
  }

  private async wait(ended: Promise<unknown>): Promise<void> {
    if (this.runs.length === 1) return this.clock.until(ended, 6 * hourMs);
    const late = new Promise<never>((_, reject) =>
      this.clock.in(6 * hourMs, () => reject(new Error('a start has not ended within 6 hours'))),
    );
    late.catch(() => undefined);
    await Promise.race([ended, late]);
  }

  private async aboveCaps(run: FleetRun, isAtPeace: boolean): Promise<string[]> {
    const own = run.of(this.service);
    const above = (sum: number, capUsd: number, what: string) =>
      sum > Math.round(capUsd * 1e6) ? [`${sum} is billed ${what} under a cap of $${capUsd}`] : [];
    const { dayCapUsd = Infinity } = this.simulation;
    // What --repair holds may be more than fits.
    const books = this.hasLost ? undefined : run.disk;
    return [
      ...(await run.valueCaps.crossed(books, own.bill, run.out)),
      ...(isAtPeace ? [] : above(billed(own), run.cap, `for ${run.out}`)),
      ...(this.isPeace ? [] : above(billed(this.service), dayCapUsd, 'in a day')),
    ];
  }

  end(): void {
    const { watch = () => undefined } = this.simulation;
    const { records, ...tables } = this.database.committed;
    watch(JSON.stringify(tables, undefined, 1));
    for (const { seq, record } of records) watch(`${String(seq)} ${String(record)}`);
    for (const { disk, out } of this.runs) watch(String(disk.peek(`${out}/journal.jsonl`)));
    for (const life of [...this.living.keys(), ...this.overtaken]) life.die();
  }

  report(more: string[]): SimulatedFleet {
    const { begun: workers, lost } = this;
    const exitCodes = this.runs.flatMap((run) => run.exitCodes);
    return { broken: [...new Set([...this.broken, ...more])], exitCodes, workers, lost };
  }

  private goAway(forMs: number): void {
    if (!this.isPeace) this.database.goAway(forMs);
  }

  private makePeace(): void {
    if (this.isPeace) return;
    this.isPeace = true;
    this.service.weather = { ...fairWeather, calls: fairCalls };
    this.database.weather = { breaks: 0, lostCommits: 0, mostMs: 3 };
    this.database.comeBack();
    this.startWorker();
  }

  /** Workers that have ended because of it are not followed by others in peace. */
  private confirm(run: FleetRun): void {
    if (this.hasLost) run.repairs = true;
    else this.database.confirm();
    if (this.isPeace) this.startWorker();
  }

  private lifeOf({ diesAtCall, skewMs = 0, freezes = [], cuts = [] }: FleetFate): FleetLife {
    const life = new FleetLife(this.clock, diesAtCall === undefined ? {} : { atCall: diesAtCall }, skewMs);
    for (const { rows } of this.runs) for (const { id } of rows) life.pricedRows.add(id);
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
        if (event.type === 'fault' && !isMoved(event.message)) this.broken.push(`a worker: ${event.message}`);
        if (event.type !== 'progress')
          this.simulation.watch?.(`${this.clock.now % 1e8} ${JSON.stringify(event)}`);
      },
    }).catch((error: unknown) => this.broken.push(`a worker ended: ${(error as Error).stack}`));
    this.living.set(life, { stop: () => stop.next(), ended });
    const over = () => {
      if (!this.living.delete(life) || (this.isPeace && !this.runs.some(({ repairs }) => repairs))) return;
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

  private async collect(run: FleetRun, fate: CollectorFate, isAtPeace: boolean) {
    const life = this.lifeOf(fate);
    const stop = new Subject<StopOrder>();
    for (const { afterMs, order } of fate.stops ?? []) this.clock.in(afterMs, () => stop.next(order));
    if (fate.isLocal === true && (fate.stops ?? []).some(({ order }) => order === 'now'))
      life.wasCutOff = true;
    const options = {
      ...this.optionsFor(life, run, stop),
      ...fate.options,
      repair: run.repairs,
      ...(isAtPeace ? { maxCostUsd: null, maxCostByUsd: null } : this.capOfDay(life, run)),
    };
    run.lastStartAt = this.clock.now;
    run.cap = Math.max(run.cap, options.maxCostUsd ?? Infinity);
    run.valueCaps.begin(options.maxCostByUsd?.['customer'] ?? undefined);
    const isOpenNow = () => run.disk.peek(`${run.out}/distributed.json`)?.includes('"isOpen":true') === true;
    const isOpen = isOpenNow();
    const connect = () =>
      this.database.isAway
        ? Promise.reject(new DatabaseError('database-away', 'away'))
        : Promise.resolve(this.database.connectedTo(life));
    const started =
      fate.isLocal === true && !isOpen ? runBatch(options) : runDistributed(options, { connect });
    const events: RunEvent[] = [];
    started.subscribe((event) => {
      if (!life.isDead) events.push(event);
    });
    const end = lastValueFrom(started).then((event) => (event.type === 'finished' ? event : undefined));
    const { overtaken } = fate;
    const state = { isOvertaken: false };
    const others: Promise<unknown>[] = [end, life.died];
    if (overtaken !== undefined && (fate.isLocal !== true || isOpen))
      others.push(
        new Promise((resolve) =>
          this.clock.in(overtaken.afterMs, () => {
            if (life.isDead || this.isPeace || !isOpenNow()) return;
            life.freeze(overtaken.forMs);
            state.isOvertaken = true;
            resolve(undefined);
          }),
        ),
      );
    await this.wait(Promise.race(others));
    const { isOvertaken } = state;
    if (isOvertaken) this.overtaken.push(life);
    return { life, isOvertaken, finished: life.isDead || isOvertaken ? undefined : await end };
  }

  private capOfDay(life: FleetLife, { out }: FleetRun): Partial<RunBatchOptions> {
    const { dayCapUsd } = this.simulation;
    if (dayCapUsd === undefined) return {};
    const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
      const done = this.stateIsFree.then(work);
      this.stateIsFree = Promise.race([done, life.died]).catch(() => undefined);
      return done;
    };
    const disk = diskOf(life, this.state, () => 0);
    const now = () => life.scheduler.now();
    const shared = { disk, path: '/day.jsonl', capUsd: dayCapUsd, run: out, exclusively, now };
    const dayLedger = () => Promise.resolve(openDayLedger(shared));
    return { maxCostPerDayUsd: dayCapUsd, dayLedger };
  }

  private optionsFor(life: FleetLife, run: FleetRun, stop: Subject<StopOrder>): RunBatchOptions {
    const { out, manifest: path } = run;
    const { manifest, ...options } = this.simulation.options ?? {};
    const isCalled = this.simulation.called === true;
    return {
      out,
      apiKey: 'canary-key-77a1',
      stop,
      ...(isCalled && { webhooks: { url: 'https://hooks.test/called', open: this.portOf(life) } }),
      baseUrl: 'http://queue.test',
      lbBaseUrl: 'http://routes.test',
      disk: diskOf(life, run.disk, () => 0),
      transport: (request) => life.reaching(this.service.transportFor(life)(request)),
      saveFrom: (request, onChunk) => life.reaching(this.service.downloadFor(life)(request, onChunk)),
      scheduler: life.scheduler,
      random: this.random,
      makeThumbnail: (picture) => Promise.resolve(picture.subarray(0, 20)),
      hold: () => Promise.resolve({ release: () => Promise.resolve() }),
      prices: createPriceBook(
        toPriceList({ endpoints: { grind: { usdPerJob: prices.job / 1e6 } }, route: prices.route / 1e6 }),
      ),
      ...options,
      manifest: manifest ?? { path, ...(isCalled && { mode: 'async' as const }) },
    };
  }

  private wrongWith(finished: Extract<RunEvent, { type: 'finished' }> | undefined): string[] {
    if (finished === undefined || isMoved(finished.reason) || ![2, 70, 74].includes(finished.exitCode))
      return [];
    return [`exit ${finished.exitCode}: ${finished.reason}`];
  }

  private async check(run: FleetRun, finished: Extract<RunEvent, { type: 'finished' }>): Promise<string[]> {
    const { rows, disk, out, lastStartAt, collectors } = run;
    const retried = [this.simulation.options, ...collectors.map((fate) => fate.options)].some(
      (some) => some?.onUnknown === 'retry',
    );
    const failedAgain = collectors.some(({ options }) => options?.retry?.includes('failed') === true);
    const asked = { retried, failedAgain, leftPictures: false, hasLost: this.hasLost };
    const books = { rows, service: run.of(this.service), disk, out, finished, lastStartAt, ...asked };
    const ledger = this.ledgerOf(run);
    const left = ['reserved', 'waiting', 'inFlight', 'polled'].filter(
      (name) => ledger !== undefined && ledger[name] !== 0,
    );
    return [
      ...(await checkBooks(books)),
      ...this.notCopied(run),
      ...left.map((name) => `${name} in the database is ${String(ledger?.[name])}`),
      ...this.otherMoney(ledger, finished),
    ];
  }

  private ledgerOf({ disk, out }: FleetRun): Readonly<Record<string, unknown>> | undefined {
    const note = disk.peek(`${out}/distributed.json`)?.toString() ?? '{}';
    const { key } = JSON.parse(note) as { key?: string };
    const { runs, ledgers } = this.database.committed;
    const found = runs.find((one) => one['key'] === key);
    return ledgers.find(({ run }) => run === found?.['run']);
  }

  /** What workers have added up, where it is not what the folder's journal comes to. */
  private otherMoney(
    ledger: Readonly<Record<string, unknown>> | undefined,
    { summary }: Extract<RunEvent, { type: 'finished' }>,
  ): string[] {
    if (ledger === undefined || summary === undefined) return [];
    const { reported, estimated, unknown } = summary.cost;
    const [spent, held] = [reported + estimated, unknown].map((usd) => Math.round(usd * 1e6));
    return Object.entries({ spent, unknown: held })
      .filter(([name, sum]) => ledger[name] !== sum)
      .map(([name, sum]) => `${name} in the database is ${String(ledger[name])}, not ${sum}`);
  }

  /** Records of the database that the folder lacks. */
  private notCopied(run: FleetRun): string[] {
    const contentOf = (text: string) => {
      const record = JSON.parse(text) as Record<string, unknown>;
      return JSON.stringify(Object.entries({ ...record, n: 0, c: '' }).sort());
    };
    const lines = run.disk.peek(`${run.out}/journal.jsonl`)?.toString().trim().split('\n') ?? [];
    const known = new Set(lines.map(contentOf));
    const number = this.ledgerOf(run)?.['run'];
    return this.database.committed.records
      .filter((row) => row['run'] === number)
      .map(({ record }) => record as string)
      .filter((text) => !known.has(contentOf(text)))
      .map((text) => `the folder lacks ${text}`);
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

function isMoved(reason = ''): boolean {
  return /a standby took its place|put back to an earlier state|not know (run|it:)|was declared dead/.test(
    reason,
  );
}
