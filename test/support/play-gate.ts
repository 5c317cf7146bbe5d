import { VirtualTimeScheduler, type SchedulerLike } from 'rxjs';
import { backoff } from '../../src/policy/retry-delay.js';
import type { Gate, RequestKind } from '../../src/policy/gates/gate.js';
import { seeded } from './seeded.js';

/** What a service answers to a request that comes in at `now` (ms) while `open` others are in work. */
export type Answering = (now: number, open: number) => { status: number; retryAfterMs?: number };

export interface GatePlay {
  /** Undefined: no gate, as the loop that a gate is compared with. */
  readonly gate?: ((options: { scheduler: SchedulerLike; random: () => number }) => Gate) | undefined;
  readonly serve: (random: () => number) => Answering;
  readonly jobs: number;
  /** Jobs at once. @defaultValue 32 */
  readonly inFlight?: number;
  /** A request and its answer take from half of it to one and a half times. @defaultValue 10 */
  readonly exchangeMs?: number;
  /** From one poll to the next. @defaultValue 100 */
  readonly pollMs?: number;
  readonly jobMs?: number;
  /** Jobs go to these endpoints in turn. @defaultValue one */
  readonly endpoints?: readonly string[];
  /** An answer of a certain endpoint in place of the service's. */
  readonly serveOf?: (endpointId: string) => Answering | undefined;
  /** Nothing is begun any more after so many ms. @defaultValue Infinity */
  readonly untilMs?: number;
  readonly seed?: number;
}

export interface GatePlayed {
  readonly seconds: number;
  readonly jobs: number;
  readonly perSecond: number;
  readonly answered: number;
  readonly refused: number;
  /** Refused answers, of all. */
  readonly refusedShare: number;
  /** By endpoint: when each of its jobs ended, in ms. */
  readonly ends: ReadonlyMap<string, readonly number[]>;
  /** Times of good answers, in ms. */
  readonly answeredAt: readonly number[];
  readonly refusedAt: readonly number[];
}

/** Jobs of two requests or more by virtual time; a refused request waits by itself and comes again, as in a purchase. */
export function playGate(play: GatePlay): GatePlayed {
  return new Play(play).run();
}

class Play {
  private readonly scheduler = new VirtualTimeScheduler(undefined, Infinity);
  private readonly random: () => number;
  private readonly gate: Gate | undefined;
  private readonly answering: Answering;
  private readonly answeredAt: number[] = [];
  private readonly refusedAt: number[] = [];
  private readonly ends = new Map<string, number[]>();
  private open = 0;
  private begun = 0;

  constructor(private readonly play: GatePlay) {
    const { scheduler } = this;
    scheduler.now = () => scheduler.frame;
    this.random = seeded(play.seed ?? 7);
    this.gate = play.gate?.({ scheduler, random: this.random });
    this.answering = play.serve(this.random);
  }

  run(): GatePlayed {
    const { inFlight = 32 } = this.play;
    for (let n = 0; n < inFlight; n++) this.begin();
    this.scheduler.flush();
    const { answeredAt, refusedAt, ends } = this;
    const jobs = [...ends.values()].reduce((sum, all) => sum + all.length, 0);
    const seconds = Math.max(...[...ends.values()].map((all) => all.at(-1) ?? 0)) / 1_000;
    const refusedShare = refusedAt.length / (answeredAt.length + refusedAt.length);
    return {
      seconds,
      jobs,
      perSecond: jobs / seconds,
      answered: answeredAt.length,
      refused: refusedAt.length,
      refusedShare,
      ends,
      answeredAt,
      refusedAt,
    };
  }

  private begin(): void {
    const { jobs, untilMs = Infinity, endpoints = ['one'], jobMs = 20, pollMs = 100 } = this.play;
    if (this.begun >= jobs || this.scheduler.frame >= untilMs) return;
    const endpointId = endpoints[this.begun++ % endpoints.length]!;
    this.request('submit', endpointId, () => {
      const doneAt = this.scheduler.frame + jobMs;
      const poll = (): void => {
        this.scheduler.schedule(() => {
          this.request('poll', endpointId, () =>
            this.scheduler.frame >= doneAt ? this.end(endpointId) : poll(),
          );
        }, pollMs);
      };
      poll();
    });
  }

  private end(endpointId: string): void {
    const ends = this.ends.get(endpointId) ?? [];
    this.ends.set(endpointId, ends);
    ends.push(this.scheduler.frame);
    this.begin();
  }

  private request(kind: RequestKind, endpointId: string, then: () => void, failures = 0): void {
    const visit = { kind, key: 'k', endpointId, host: 'service.test' };
    const send = (): void => {
      const { exchangeMs = 10 } = this.play;
      const half = (exchangeMs / 2) * (0.5 + this.random());
      this.scheduler.schedule(() => {
        const answering = this.play.serveOf?.(endpointId) ?? this.answering;
        const answer = answering(this.scheduler.frame, this.open++);
        this.scheduler.schedule(() => {
          this.open--;
          this.gate?.observe({ ...visit, ...answer });
          (answer.status === 200 ? this.answeredAt : this.refusedAt).push(this.scheduler.frame);
          if (answer.status === 200) return then();
          const waitMs = answer.retryAfterMs ?? 0;
          const again = (): void => this.request(kind, endpointId, then, failures + 1);
          this.scheduler.schedule(again, waitMs > 0 ? waitMs : backoff(failures + 1, this.random));
        }, half);
      }, half);
    };
    if (this.gate === undefined || this.gate.tryPass?.(visit) === true) return send();
    this.gate.admit(visit).subscribe({ complete: send });
  }
}

/** Takes every request. */
export const takesAll = (): Answering => () => ({ status: 200 });

/** A bucket of tokens. */
export function takesRate(perSecond: number | ((now: number) => number), burst?: number): () => Answering {
  return () => {
    const rateAt = typeof perSecond === 'number' ? () => perSecond : perSecond;
    let tokens = burst ?? rateAt(0);
    let filledAt = 0;
    return (now) => {
      const rate = rateAt(now);
      tokens = Math.min(burst ?? rate, tokens + ((now - filledAt) / 1_000) * rate);
      filledAt = now;
      if (tokens < 1) return { status: 429 };
      tokens -= 1;
      return { status: 200 };
    };
  };
}

/** So many in each window of time. */
export function takesPerWindow(most: number, windowMs: number): () => Answering {
  return () => {
    let window = -1;
    let taken = 0;
    return (now) => {
      const at = Math.floor(now / windowMs);
      if (at !== window) taken = 0;
      window = at;
      return taken++ < most ? { status: 200 } : { status: 429 };
    };
  };
}

/** So many within any second. */
export function takesPerSlidingSecond(most: number): () => Answering {
  return () => {
    const taken: number[] = [];
    return (now) => {
      while (taken.length > 0 && taken[0]! <= now - 1_000) taken.shift();
      if (taken.length >= most) return { status: 429 };
      taken.push(now);
      return { status: 200 };
    };
  };
}

/** Refuses so large a share at random, before anything else. */
export function withNoise(
  share: number,
  serve: (random: () => number) => Answering = takesAll,
  retryAfterMs?: number,
): (random: () => number) => Answering {
  return (random) => {
    const answer = serve(random);
    return (now, open) =>
      random() < share
        ? { status: 429, ...(retryAfterMs !== undefined && { retryAfterMs }) }
        : answer(now, open);
  };
}
