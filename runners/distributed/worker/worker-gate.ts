import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  Observable,
  timer,
  type SchedulerLike,
  type Subscriber,
  type Subscription,
} from 'rxjs';
import { AdaptiveRateLimiter } from '../../../src/policy/gates/adaptive-rate-limiter.js';
import { isRefusal, type Gate, type GateAnswer, type GateRequest } from '../../../src/policy/gates/gate.js';
import {
  createEndpointGate,
  type EndpointGate,
  type GateOptions,
} from '../../../src/policy/gates/endpoint-gate.js';
import type { DatabaseLink } from '../database/database-link.js';
import { pauseRun, takeTurns, type Turns } from '../table/runs.js';
import type { RunDatabase } from '../table/run-ledger.js';

/** The part of a run's gate that its workers share. */
export interface SharedGate {
  /** Pauses all workers. */
  pause(forMs: number): void;
  /** Takes turns of the run's rate; absent if the run has none. */
  readonly takeTurns?: ((turns: number) => Promise<Turns>) | undefined;
}

/**
 * The gate for one worker's requests of a run. Each worker measures the pauses and rates of endpoints itself, as a local run
 * does. A given rate is shared: the worker takes turns for all waiting requests. If all endpoints that this worker calls
 * refuse, all workers pause: they submit nothing. Each one's own gate decides about its polls.
 */
export class WorkerGate implements Gate {
  private readonly own: EndpointGate;
  private readonly scheduler: SchedulerLike;
  private readonly turns: TurnQueue | undefined;
  private heldUntil = -Infinity;

  constructor(
    private readonly shared: SharedGate,
    { scheduler, random }: Required<GateOptions>,
  ) {
    this.scheduler = scheduler;
    const { takeTurns } = shared;
    this.turns = takeTurns && new TurnQueue(takeTurns, scheduler);
    const rates = takeTurns ? {} : { own: () => new AdaptiveRateLimiter(scheduler) };
    this.own = createEndpointGate({ scheduler, random }, rates);
  }

  /** Submits nothing to any endpoint for `forMs`. */
  hold(forMs: number): void {
    this.heldUntil = Math.max(this.heldUntil, this.scheduler.now() + forMs);
  }

  admit(request: GateRequest): ReturnType<Gate['admit']> {
    return concat(
      this.own.admit(request),
      defer(() => (this.holds(request) ? timer(this.heldMs, this.scheduler).pipe(ignoreElements()) : EMPTY)),
      this.turns === undefined ? EMPTY : this.turns.turn(request.kind !== 'submit'),
    );
  }

  tryPass(request: GateRequest): boolean {
    return this.turns === undefined && !this.holds(request) && (this.own.tryPass?.(request) ?? false);
  }

  observe(answer: GateAnswer): void {
    this.own.observe(answer);
    if (!isRefusal(answer)) return;
    const pausedMs = this.own.pausedMs();
    if (pausedMs <= Math.max(this.heldMs, 0)) return;
    this.hold(pausedMs);
    this.shared.pause(pausedMs);
  }

  private holds({ kind }: GateRequest): boolean {
    return kind === 'submit' && this.heldMs > 0;
  }

  private get heldMs(): number {
    return this.heldUntil - this.scheduler.now();
  }
}

/**
 * A worker takes turns this many ms ahead, or for the time of a few database answers if that is longer. Fewer turns are better:
 * a poll waits for the turns of other workers, and the turns of a dead worker are lost.
 */
const ahead = { leastMs: 250, mostMs: 1_000, answers: 4 };
/** A turn expires this long after its time, so that a suspended process sends no burst. */
const latenessMs = 200;

/**
 * Requests that wait for a turn of the rate. Polls go before submissions. Further turns are taken while the last ones
 * are used.
 */
class TurnQueue {
  private readonly polls = new Set<Subscriber<never>>();
  private readonly submits = new Set<Subscriber<never>>();
  /** The times of the turns that were taken, the next one first. */
  private readonly turns: number[] = [];
  private everyMs = ahead.leastMs;
  private aheadMs = ahead.leastMs;
  private lastAt = -Infinity;
  private isTaking = false;
  private alarm: Subscription | undefined;

  constructor(
    private readonly takeTurns: (turns: number) => Promise<Turns>,
    private readonly scheduler: SchedulerLike,
  ) {}

  turn(isPoll: boolean): Observable<never> {
    return new Observable((subscriber) => {
      const waiting = isPoll ? this.polls : this.submits;
      waiting.add(subscriber);
      this.take();
      return () => waiting.delete(subscriber);
    });
  }

  private take(): void {
    const missing = this.polls.size + this.submits.size - this.turns.length;
    if (this.isTaking || missing <= 0 || this.turns.length * this.everyMs >= this.aheadMs) return;
    this.isTaking = true;
    const turns = Math.min(missing, Math.ceil(this.aheadMs / this.everyMs));
    const askedAt = this.scheduler.now();
    this.takeTurns(turns).then(
      (taken) => {
        this.isTaking = false;
        const tookMs = this.scheduler.now() - askedAt;
        this.aheadMs = Math.min(Math.max(ahead.leastMs, ahead.answers * tookMs), ahead.mostMs);
        this.taken(turns, taken);
      },
      (error: unknown) => {
        this.isTaking = false;
        for (const subscriber of [...this.polls, ...this.submits]) subscriber.error(error);
      },
    );
  }

  private taken(turns: number, { inMs, everyMs }: Turns): void {
    this.everyMs = everyMs;
    // Database answers take different times, but turns must never be closer together than they were given.
    const first = Math.max(this.scheduler.now() + inMs, this.lastAt + everyMs);
    for (let turn = 0; turn < turns; turn++) this.turns.push(first + turn * everyMs);
    this.lastAt = this.turns.at(-1) ?? -Infinity;
    this.spend();
  }

  private spend(): void {
    this.alarm?.unsubscribe();
    const now = this.scheduler.now();
    for (let [at] = this.turns; at !== undefined && at <= now; [at] = this.turns) {
      this.turns.shift();
      if (now - at > latenessMs) continue;
      const [next] = this.polls.size > 0 ? this.polls : this.submits;
      next?.complete();
    }
    this.take();
    const [at] = this.turns;
    this.alarm = at === undefined ? undefined : this.scheduler.schedule(() => this.spend(), at - now);
  }
}

export function sharedGate(
  database: RunDatabase,
  { run, isRated }: { readonly run: number; readonly isRated: boolean },
  link: DatabaseLink,
): SharedGate {
  return {
    pause: (forMs) => void link.insist(() => pauseRun(database, run, forMs)).catch(() => undefined),
    takeTurns: isRated ? (turns) => link.insist(() => takeTurns(database, run, turns)) : undefined,
  };
}
