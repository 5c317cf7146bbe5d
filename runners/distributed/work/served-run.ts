import type { SchedulerLike } from 'rxjs';
import { createClient, type Client } from '../../../src/endpoints/create-client.js';
import type { QueueEndpoint } from '../../../src/endpoints/queue-endpoint.js';
import type { RouteEndpoint } from '../../../src/endpoints/route-endpoint.js';
import { assumePrice, createPriceBook, type PriceBook } from '../../batch/ledger/price-book.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { type Database, inTransaction } from '../records/database.js';
import { openGate, pauseGate } from '../records/gate-record.js';
import { readPulse, type Pulse } from '../store/read-state.js';
import type { PriceTerms, RunTerms } from '../records/run-terms.js';
import { stopRun } from '../records/run-record.js';
import { takeTurn } from '../store/take-due.js';
import { WorkerGate } from './worker-gate.js';
import { isAway } from '../database/database-error.js';
import type { WorkerSettings } from './worker-options.js';
import { PollTimes, silentSchedule } from './poll-times.js';
import { sleep } from './sleep.js';

/** How often a good answer of the service is noted for the other workers. */
const noteAnswerEveryMs = 2_000;
/** The longest one poll may take, its quick retries included. */
export const pollLimitMs = 20_000;

/** One start of a run, as one worker sees it: its terms, clients and gate, and the latest pulse. */
export class ServedRun {
  readonly book: PriceBook;
  readonly times: PollTimes;
  readonly gate: WorkerGate;
  readonly routes: RouteEndpoint | undefined;
  pulse: Pulse;
  private readonly client: Client;
  private readonly endpoints = new Map<string, QueueEndpoint<unknown, unknown>>();
  private clockAhead = 0;
  private answerNotedAt = -Infinity;

  constructor(
    readonly run: number,
    readonly terms: RunTerms,
    readonly settings: WorkerSettings,
    pulse: Pulse,
  ) {
    this.pulse = pulse;
    this.book = bookOf(terms.prices);
    this.times = new PollTimes(terms.pollCostMs);
    this.gate = new WorkerGate(
      {
        pause: (why, askedMs) =>
          this.inBackground(pauseGate(this.database, run, { why, askedMs, random: settings.random })),
        answered: () => this.answered(),
        turn: () => this.turn(),
      },
      { scheduler: settings.scheduler, random: settings.random, isRated: pulse.rate !== null },
    );
    const { transport, scheduler, random, apiKey } = settings;
    const { baseUrl, lbBaseUrl } = terms.identity;
    this.client = createClient({
      ...{ transport, scheduler, random, gate: this.gate },
      ...(apiKey !== undefined && { apiKey }),
      ...(baseUrl !== '' && { baseUrl }),
    });
    const retry = { maxRetries: terms.retries };
    this.routes =
      lbBaseUrl === '' ? undefined : this.client.routes(lbBaseUrl, { retry, deadlineMs: terms.timeoutMs });
    this.note(pulse);
  }

  get database(): Database {
    return this.settings.database;
  }

  private get scheduler(): SchedulerLike {
    return this.settings.scheduler;
  }

  /** The database's clock, in ms since the epoch: the clocks of machines differ. */
  now(): number {
    return this.scheduler.now() + this.clockAhead;
  }

  /** Reads what there is to do. False: the run is gone, or another start of it has begun. */
  async look(): Promise<boolean> {
    const pulse = await readPulse(this.database.pool, this.run);
    if (pulse === undefined || pulse.starts !== this.pulse.starts) return false;
    this.note(pulse);
    return true;
  }

  /** An endpoint that buys at most once a call and never polls by itself: each poll is another work item. */
  queue(endpoint: string): QueueEndpoint<unknown, unknown> {
    const { terms } = this;
    const known = this.endpoints.get(endpoint);
    if (known !== undefined) return known;
    const options = {
      ...{ executionTimeoutMs: terms.runsyncTimeoutMs, deadlineMs: terms.timeoutMs },
      ...{ poll: silentSchedule(), retry: { maxRetries: 0 } },
    };
    const made = this.client.queue<string>(endpoint, options);
    this.endpoints.set(endpoint, made);
    return made;
  }

  async stop(cause: StopCause): Promise<void> {
    await inTransaction(this.database.pool, (on) => stopRun(on, this.run, cause));
  }

  private note(pulse: Pulse): void {
    this.pulse = pulse;
    this.clockAhead = pulse.now - this.scheduler.now();
    if (pulse.pausedMs > 0) this.gate.hold(pulse.pausedMs);
  }

  private answered(): void {
    const now = this.scheduler.now();
    if (!this.pulse.recovering && now - this.answerNotedAt < noteAnswerEveryMs) return;
    this.answerNotedAt = now;
    this.pulse = { ...this.pulse, recovering: false, answeredMsAgo: 0 };
    this.inBackground(openGate(this.database, this.run));
  }

  private async turn(): Promise<void> {
    for (;;) {
      const { granted, inMs } = await takeTurn(this.database, this.run).catch(noTurnWhileAway);
      await sleep(inMs, this.scheduler);
      if (granted) return;
    }
  }

  /** A write that fails while the database is away is made again with the next answer. */
  private inBackground(write: Promise<unknown>): void {
    write.catch(() => undefined);
  }
}

function noTurnWhileAway(error: unknown): { granted: boolean; inMs: number } {
  if (!isAway(error)) throw error;
  return { granted: false, inMs: 1_000 };
}

function bookOf({ endpoints, assumed, ...list }: PriceTerms): PriceBook {
  const book = createPriceBook({ ...list, endpoints: new Map(endpoints) });
  return assumed === undefined ? book : assumePrice(book, assumed);
}
