import { lastValueFrom, Subject } from 'rxjs';
import type { Disk } from '../../runners/batch/disk/disk.js';
import { openJournal } from '../../runners/batch/journal/open-journal.js';
import type { JournalRecord } from '../../runners/batch/journal/record.js';
import { createPriceBook } from '../../runners/batch/ledger/price-book.js';
import { toPriceList } from '../../runners/batch/ledger/price-list.js';
import type { CheckAhead } from '../../runners/batch/context/resolved-options.js';
import {
  runBatch,
  runStages,
  type RunBatchOptions,
  type RunEvent,
  type RunStages,
  type StopOrder,
} from '../../runners/batch/run-batch.js';
import { keepManifest } from '../../runners/batch/start/check/keep-manifest.js';
import { type DiskFault, ForgetfulDisk } from '../support/forgetful-disk.js';
import { seeded } from '../support/seeded.js';
import { journalJobs } from '../support/whose-answers.js';
import { fairCalls } from './callbacks.js';
import { checkBooks } from './check-books.js';
import { diskOf, Life } from './life.js';
import { Meddler, type Meddling } from './meddling.js';
import { makeRows, prices, type SimulatedRow } from './rows.js';
import { Service } from './service.js';
import { failureText, VirtualClock } from './virtual-clock.js';
import { ValueCapWatch } from './value-caps.js';
import { fairWeather, type Weather } from './weather.js';

/** What befalls one start. */
export interface Fate {
  /** It dies at this call, counted from 1. */
  readonly diesAtCall?: number;
  /** The machine loses its power with it; else the process alone is killed. @defaultValue true */
  readonly powerCut?: boolean;
  readonly diskFaults?: readonly DiskFault[];
  /** Told to stop after so many ms, and again. */
  readonly stops?: readonly { readonly afterMs: number; readonly order: StopOrder }[];
  readonly weather?: Weather;
  /** Somebody else does this to its files from this call on, counted from 1: once the manifest has been read, or the journal written to. */
  readonly meddling?: { readonly what: Meddling; readonly fromCall: number };
  /** Most ms that a call of the disk takes. @defaultValue 0 */
  readonly diskMs?: number;
  readonly options?: Partial<RunBatchOptions>;
  /** How long nobody starts it again, in ms. @defaultValue 1000 */
  readonly pauseMs?: number;
}

export interface Simulation {
  readonly seed: number;
  readonly rows: number;
  readonly format: 'csv' | 'jsonl';
  /** The service calls back. @defaultValue false */
  readonly called?: boolean;
  /** The rows have a column of 8 kB. @defaultValue false */
  readonly wide?: boolean;
  /** What befalls the starts, one after another; those after the last are left in peace. */
  readonly fates: readonly Fate[];
  readonly options?: Partial<RunBatchOptions>;
  /** Told at the end of each start, for whoever looks for a cause. */
  readonly watch?: (disk: ForgetfulDisk, end: Extract<RunEvent, { type: 'finished' }> | undefined) => void;
}

export interface Simulated {
  /** What is wrong; empty when every promise held. */
  readonly broken: string[];
  readonly starts: number;
  /** Calls of the first start. */
  readonly calls: number;
  readonly exitCodes: (number | 'died')[];
}

const manifestPathOf = { csv: '/job/rows.csv', jsonl: '/job/rows.jsonl' } as const;
/** Bytes; so few that most starts begin from a snapshot, many with records behind it. */
const snapshotEvery = 4_000;
const dayMs = 24 * 3_600_000;
/** Nothing befalls a start, and a cap that the run remembers is lifted. */
const peace: Fate = { options: { maxCostUsd: null, maxCostByUsd: null } };
/** Starts that find all rows ended; then rows are added. */
const startsOver = 3;
/**
 * A run that has not come to its end by then goes round in circles. Each start may leave one row more to the next one: a late callback
 * names the job of a row that was in doubt.
 */
const mostPeacefulStarts = 12;

/** Starts a run again and again, whatever befalls it, until nothing is left to be done; then compares all books. */
export async function simulateRun(simulation: Simulation): Promise<Simulated> {
  const world = new World(simulation);
  try {
    return await world.play();
  } catch (error) {
    return world.report([failureText(error)]);
  }
}

class World {
  private readonly random: () => number;
  private readonly clock = new VirtualClock();
  private readonly rows: SimulatedRow[];
  private readonly service: Service;
  private disk: ForgetfulDisk;
  private readonly broken: string[] = [];
  private readonly exitCodes: (number | 'died')[] = [];
  private calls = 0;
  private readonly chances: () => number;
  private readonly meddler: Meddler;
  /** The next start is asked to repair the journal: the last one said that it has to be. */
  private repairs = false;
  private readonly valueCaps = new ValueCapWatch();
  /** What the journal has lost no cap can count. */
  private hasLostRecords = false;
  private lastStartAt = 0;
  private keptAhead = Promise.resolve();

  constructor(private readonly simulation: Simulation) {
    const { seed, rows, format, wide } = simulation;
    this.random = seeded(seed);
    this.chances = seeded(seed + 0.5);
    this.rows = makeRows(rows, this.random);
    this.service = new Service(this.clock, this.rows, this.random, this.chances);
    this.disk = new ForgetfulDisk({ random: this.random });
    const look = { format, random: this.chances, ...(wide !== undefined && { wide }) };
    this.meddler = new Meddler(manifestPathOf[format], this.rows, look, (disk) =>
      allBooked(disk, this.service),
    );
    this.meddler.writeManifest(this.disk);
  }

  async play(): Promise<Simulated> {
    const { fates } = this.simulation;
    let over = 0;
    for (let start = 0; start < fates.length + mostPeacefulStarts; start++) {
      const fate = fates[start] ?? peace;
      const ended = await this.start(fate);
      this.hasLostRecords ||= this.meddler.hasTakenJournal;
      if (!this.hasLostRecords)
        this.broken.push(...(await this.valueCaps.crossed(this.disk, this.service.bill)));
      if (start === 0) this.calls = ended.life.calls;
      this.exitCodes.push(ended.finished?.exitCode ?? 'died');
      this.repairs = ended.finished?.exitCode === 74 && /--repair/.test(ended.finished.reason);
      this.simulation.watch?.(this.disk, ended.finished);
      const { mayRefuse } = this.meddler;
      const wasRepaired = /"k":"repaired"/.test(this.disk.peek('/job/out/journal.jsonl')?.toString() ?? '');
      this.broken.push(
        ...wrongWith(ended.finished, ended.events, { mayRefuse, wasRepaired }),
        ...this.service.broken,
      );
      this.end(ended.life);
      const isOver = start >= fates.length && ended.finished?.summary?.rows.toDo === 0;
      if (this.broken.length > 0) return this.report([]);
      if (isOver) {
        const wrong = await this.check(ended.finished!);
        if (wrong.length > 0 || ++over > startsOver) return this.report(wrong);
        // By now a start has kept what it found in these rows, and another has gone by that.
        if (over === startsOver) this.meddle('manifest-appended');
      }
      this.disk = this.next(fates[start + 1] ?? {}, fate.powerCut ?? true);
      // After the power cut: only what has survived it is evidence beside a journal that is put back.
      this.meddler.tidy(this.disk);
      this.clock.now += fate.pauseMs ?? 1_000;
    }
    return this.report(['the run does not come to its end']);
  }

  private meddle(what: Meddling): void {
    for (const row of this.meddler.meddle(this.disk, what)) this.service.addRow(row);
  }

  private end(life: Life): void {
    if (this.meddler.hasTakenJournal) this.service.cutOffAll();
    life.die();
  }

  report(more: string[]): Simulated {
    const { exitCodes, calls } = this;
    return { broken: [...this.broken, ...more], starts: exitCodes.length, calls, exitCodes };
  }

  private async start(fate: Fate) {
    const life = new Life(this.clock, fate.diesAtCall === undefined ? {} : { atCall: fate.diesAtCall });
    const { meddling } = fate;
    if (meddling !== undefined) {
      const { what, fromCall } = meddling;
      life.meddle({ fromCall, after: this.meddler.neededFor(what), work: () => this.meddle(what) });
    }
    for (const { id } of this.rows) life.pricedRows.add(id);
    for (const job of jobsIn(this.disk.peek('/job/out/journal.jsonl'))) life.knownJobs.add(job);
    const stop = new Subject<StopOrder>();
    for (const { afterMs, order } of fate.stops ?? []) this.clock.in(afterMs, () => stop.next(order));
    const { calls = fairCalls } = fate.weather ?? {};
    this.service.weather = { ...(fate.weather ?? fairWeather), calls };
    this.lastStartAt = this.clock.now;
    const events: RunEvent[] = [];
    this.valueCaps.begin(fate.options?.maxCostByUsd?.['customer'] ?? undefined);
    const run = runBatch(this.optionsFor(life, fate, stop), this.stages());
    run.subscribe((event) => {
      if (!life.isDead) events.push(event);
    });
    const end = lastValueFrom(run).then((event) => (event.type === 'finished' ? event : undefined));
    await this.clock.until(Promise.race([end, life.died]), 40 * dayMs);
    const finished = life.isDead ? undefined : await end;
    const stops = fate.stops ?? [];
    const isHurried = stops.length > 1 || stops.some(({ order }) => order === 'now');
    if (isHurried || fate.diskFaults !== undefined) life.wasCutOff = true;
    return { life, finished, events };
  }

  private optionsFor(life: Life, fate: Fate, stop: Subject<StopOrder>): RunBatchOptions {
    const diskMs = fate.diskMs ?? 0;
    const path = manifestPathOf[this.simulation.format];
    const disk = diskOf(life, this.disk, () =>
      diskMs > 0 && this.random() < 0.5 ? this.random() * diskMs : 0,
    );
    const now = (): number => life.scheduler.now();
    const { costBy, maxCostByUsd } = { ...this.simulation.options, ...fate.options };
    const byValue = { costBy, maxCostByUsd };
    return {
      manifest: { path, ...(this.simulation.called === true && { mode: 'async' }) },
      out: '/job/out',
      baseUrl: 'http://queue.test',
      lbBaseUrl: 'http://routes.test',
      apiKey: 'canary-key-77a1',
      concurrency: 6,
      disk,
      // Beside it what is kept of the manifest would be written at moments of its own, in each play at others.
      journal: async (folder) => {
        await this.keptAhead;
        return openJournal(disk, folder, { now, snapshotEvery, repair: this.repairs, ...byValue });
      },
      transport: this.service.transportFor(life),
      saveFrom: this.service.downloadFor(life),
      scheduler: life.scheduler,
      random: this.random,
      makeThumbnail: (picture) => Promise.resolve(picture.subarray(0, 20)),
      hold: () => Promise.resolve({ release: () => Promise.resolve() }),
      prices: createPriceBook(
        toPriceList({ endpoints: { grind: { usdPerJob: prices.job / 1e6 } }, route: prices.route / 1e6 }),
      ),
      stop,
      repair: this.repairs,
      ...(this.simulation.called === true && { webhooks: this.webhooksFor(life) }),
      ...this.simulation.options,
      ...fate.options,
    };
  }

  /** Each second start keeps what the manifest holds before its journal is read, as the command line does beside a long one. */
  private stages(): RunStages {
    this.keptAhead = Promise.resolve();
    if (this.exitCodes.length % 2 === 0) return runStages;
    const checkAhead: CheckAhead = ({ disk, out, manifest: { path, settings } }, signal, held) => {
      // The manifest is meddled with once the start itself has read it.
      const open: Disk['open'] = (name, ...how) => (name === path ? this.disk : disk).open(name, ...how);
      const keep = () => keepManifest({ ...disk, open }, { out, path, settings });
      // A start that ends before the run is held gives it nothing to do.
      const left = new Promise<false>((resolve) =>
        signal.addEventListener('abort', () => resolve(false), { once: true }),
      );
      const begun = Promise.race([held.then(() => true), left]);
      this.keptAhead = begun.then((isHeld) => (isHeld ? keep() : undefined)).catch(() => undefined);
      return this.keptAhead;
    };
    return { ...runStages, checkAhead };
  }

  private webhooksFor(life: Life): NonNullable<RunBatchOptions['webhooks']> {
    return { url: 'https://hooks.test/called', open: this.service.line.openFor(life) };
  }

  private next(fate: Fate, powerCut: boolean): ForgetfulDisk {
    const options = { random: this.random, ...(fate.diskFaults && { faults: fate.diskFaults }) };
    return powerCut && this.exitCodes.at(-1) === 'died'
      ? this.disk.restart(options)
      : this.disk.handOver(options);
  }

  private check(finished: Extract<RunEvent, { type: 'finished' }>): Promise<string[]> {
    const { rows, service, disk } = this;
    const { lastStartAt } = this;
    return checkBooks({ rows, service, disk, out: '/job/out', finished, lastStartAt, ...this.allowed() });
  }

  private allowed() {
    const { options, fates } = this.simulation;
    const given = [options, ...fates.map((fate) => fate.options)];
    return {
      retried: given.some((some) => some?.onUnknown === 'retry'),
      failedAgain: given.some((some) => some?.retry?.includes('failed') === true),
      leftPictures: given.some((some) => some?.download === false),
    };
  }
}

/** The jobs that a start finds in the journal, as `endpoint/id`. */
function jobsIn(journal: Buffer | undefined): string[] {
  const records = (journal?.toString() ?? '').split('\n').flatMap((line) => {
    if (!/"jobId":|"k":"intent"/.test(line)) return [];
    try {
      return [JSON.parse(line) as JournalRecord];
    } catch {
      return [];
    }
  });
  return journalJobs(records).map(({ endpoint, jobId }) => `${endpoint}/${jobId}`);
}

/** As many lines as purchases: each row's POSTs that were not refused. */
function allBooked(disk: ForgetfulDisk, { posts }: Service): boolean {
  const lines = (disk.peek('/job/out/costs.csv')?.toString() ?? '').split('\n');
  return posts.every(({ row, answered }) => {
    if (answered === 'refusal') return true;
    const sent = posts.filter((post) => post.row === row && post.answered !== 'refusal').length;
    return lines.filter((line) => line.startsWith(`${row},`)).length >= sent;
  });
}

/** What must hold at the end of every start, whatever befell it. */
function wrongWith(
  finished: Extract<RunEvent, { type: 'finished' }> | undefined,
  events: RunEvent[],
  { mayRefuse, wasRepaired }: { readonly mayRefuse: boolean; readonly wasRepaired: boolean },
): string[] {
  const broken: string[] = [];
  if (finished?.exitCode === 70) broken.push(`exit 70: ${finished.reason}`);
  if (finished?.exitCode === 2 && !mayRefuse) broken.push(`exit 2: ${finished.reason}`);
  if (finished && /damaged/.test(finished.reason)) broken.push(finished.reason);
  let reserved = 0;
  for (const event of events) {
    if (event.type !== 'money' || event.cap === undefined) continue;
    const total = event.reserved + event.spent + event.unknown;
    // Rows whose purchase may stand in a part of the journal that was lost are in doubt without a reservation, however many they are.
    const isCrossed = total > event.cap && (!wasRepaired || event.reserved > reserved);
    if (isCrossed) broken.push(`${total} reserved, spent and unknown under a cap of ${event.cap}`);
    reserved = event.reserved;
  }
  return broken;
}
