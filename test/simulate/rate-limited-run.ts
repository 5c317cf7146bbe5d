import { lastValueFrom, Observable } from 'rxjs';
import type { Summary } from '../../runners/batch/sinks/summary-file.js';
import { runBatch, type RunBatchOptions } from '../../runners/batch/run-batch.js';
import type { Transport } from '../../src/transport/transport.js';
import { ForgetfulDisk } from '../support/forgetful-disk.js';
import { seeded } from '../support/seeded.js';
import { schedulerOf, VirtualClock } from './virtual-clock.js';

/** A service that takes so many requests a second, and who asks it. */
export interface RateLimited {
  readonly perSecond: number;
  /** So many requests at once, after a rest. @defaultValue perSecond */
  readonly burst?: number;
  /** Changes the rate after so many ms. */
  readonly later?: { readonly afterMs: number; readonly perSecond: number };
  readonly rows: number;
  /** A request and its answer take from half of it to one and a half times. @defaultValue 20 */
  readonly exchangeMs?: number;
  /** Jobs run from half of it to one and a half times. @defaultValue 100 */
  readonly runMs?: number;
  /** Timers ring by up to so much too late. @defaultValue 0 */
  readonly latenessMs?: number;
  /** Chance of a 429 that has nothing to do with the rate. @defaultValue 0 */
  readonly noise?: number;
  /** Chance of HTTP 500 instead of a status. @defaultValue 0 */
  readonly broken?: number;
  readonly options?: Partial<RunBatchOptions>;
}

export interface RateReached {
  /** Answers a second, as a share of what the service takes, between its first request and its last. */
  readonly share: number;
  /** Answers that are 429, of all. */
  readonly refused: number;
  readonly seconds: number;
  readonly polls: number;
  readonly exitCode: number;
  readonly summary: Summary | undefined;
  /** Rows in flight as they changed. */
  readonly concurrency: readonly number[];
}

/** A whole run of short jobs in virtual time against such a service. */
export async function rateLimitedRun(given: RateLimited): Promise<RateReached> {
  const { rows, latenessMs = 0, options } = given;
  const clock = new VirtualClock();
  const random = seeded(7);
  const service = new LimitedService(clock, given, random);
  const disk = new ForgetfulDisk({ random });
  const line = (n: number): string =>
    `${JSON.stringify({ id: `row-${n}`, endpoint: 'grind', input: { n } })}\n`;
  disk.plant('/job/rows.jsonl', Array.from({ length: rows }, (_, n) => line(n)).join(''));
  const concurrency: number[] = [];
  const run = runBatch({
    manifest: { path: '/job/rows.jsonl' },
    out: '/job/out',
    baseUrl: 'http://queue.test',
    apiKey: 'key-0123456789',
    disk,
    transport: service.transport,
    scheduler: schedulerOf(
      clock,
      () => false,
      () => latenessMs * random(),
    ),
    random,
    hold: () => Promise.resolve({ release: () => Promise.resolve() }),
    ...options,
  });
  run.subscribe((event) => {
    if (event.type === 'concurrency') concurrency.push(event.rows);
  });
  const end = lastValueFrom(run);
  await clock.until(end, 24 * 3_600_000);
  const finished = await end;
  if (finished.type !== 'finished') throw new Error('the run did not finish');
  return { ...service.reached(), exitCode: finished.exitCode, summary: finished.summary, concurrency };
}

/** A bucket of tokens before jobs that take a while. */
class LimitedService {
  private readonly jobs = new Map<string, number>();
  private tokens: number;
  private filledAt: number;
  private readonly startedAt: number;
  private firstAt: number | undefined;
  private lastAt = 0;
  private possible = 0;
  private answered = 0;
  private refused = 0;
  private polls = 0;

  constructor(
    private readonly clock: VirtualClock,
    private readonly given: RateLimited,
    private readonly random: () => number,
  ) {
    this.tokens = given.burst ?? given.perSecond;
    this.startedAt = clock.now;
    this.filledAt = clock.now;
  }

  readonly transport: Transport = ({ method, url }) =>
    new Observable((subscriber) => {
      const { exchangeMs = 20 } = this.given;
      const ms = exchangeMs * (0.5 + this.random());
      let takeBack = this.clock.in(ms / 2, () => {
        const { status, body } = this.answer(method, url);
        takeBack = this.clock.in(ms / 2, () => {
          subscriber.next({ status, headers: {}, body: JSON.stringify(body) });
          subscriber.complete();
        });
      });
      return () => takeBack();
    });

  reached() {
    const { answered, refused, polls } = this;
    const seconds = (this.lastAt - (this.firstAt ?? 0)) / 1_000;
    const all = answered + refused;
    return { share: answered / this.possible, refused: refused / all, seconds, polls };
  }

  private rateNow(): number {
    const { perSecond, later } = this.given;
    return later && this.clock.now - this.startedAt >= later.afterMs ? later.perSecond : perSecond;
  }

  private isRefused(): boolean {
    if (this.random() < (this.given.noise ?? 0)) return true;
    const rate = this.rateNow();
    const { burst = rate } = this.given;
    const { now } = this.clock;
    this.firstAt ??= now;
    this.lastAt = now;
    const gained = ((now - Math.max(this.filledAt, this.firstAt)) / 1_000) * rate;
    this.possible += gained;
    this.tokens = Math.min(Math.max(burst, 1), this.tokens + gained);
    this.filledAt = now;
    if (this.tokens < 1) return true;
    this.tokens -= 1;
    return false;
  }

  private answer(method: string, url: string): { status: number; body: object } {
    if (this.isRefused()) {
      this.refused++;
      return { status: 429, body: { error: 'too many requests' } };
    }
    this.answered++;
    return method === 'POST' ? this.accept() : this.report(new URL(url).pathname.split('/').at(-1) ?? '');
  }

  private accept(): { status: number; body: object } {
    const id = `job-${this.jobs.size}`;
    const { runMs = 100 } = this.given;
    this.jobs.set(id, this.clock.now + runMs * (0.5 + this.random()));
    return { status: 200, body: { id, status: 'IN_QUEUE' } };
  }

  private report(id: string): { status: number; body: object } {
    this.polls++;
    if (this.random() < (this.given.broken ?? 0)) return { status: 500, body: { error: 'broken' } };
    if ((this.jobs.get(id) ?? 0) > this.clock.now)
      return { status: 200, body: { id, status: 'IN_PROGRESS' } };
    return { status: 200, body: { id, status: 'COMPLETED', output: { ok: true } } };
  }
}
