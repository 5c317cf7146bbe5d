import { concat, defer, EMPTY, ignoreElements, timer, type Observable, type SchedulerLike } from 'rxjs';
import type { WaitReason } from '../../../src/contract/outcome.js';
import { createAdaptivePace } from '../../../src/policy/adaptive-pace.js';
import { isRefusal, type Gate, type GateAnswer, type GateRequest } from '../../../src/policy/gate.js';
import { createTurnstile, type EndpointGate } from '../../../src/policy/turnstile.js';

/** What a gate writes into the database, and asks of it. */
export interface GateKeeper {
  pause(why: WaitReason, askedMs: number): void;
  heard(): void;
  /** Resolves when a request may leave that no turn was taken for. */
  turn(): Promise<unknown>;
}

interface DeskGateOptions {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  /** The run's rate is given: turns keep to it, and none is to be found out. */
  readonly isRated: boolean;
}

/**
 * The gate of a run as one worker's requests meet it. Pauses and rates of endpoints are found out by each worker, as by a
 * local run; turns were taken with the pieces. A pause is everybody's where all endpoints that the worker asks refuse.
 */
export class DeskGate implements Gate {
  private readonly granted = new Set<string>();
  private readonly own: EndpointGate;
  private readonly scheduler: SchedulerLike;
  private heldUntil = 0;

  constructor(
    private readonly keeper: GateKeeper,
    { scheduler, random, isRated }: DeskGateOptions,
  ) {
    this.scheduler = scheduler;
    const paces = isRated ? {} : { own: () => createAdaptivePace(scheduler) };
    this.own = createTurnstile({ scheduler, random }, paces);
  }

  /** The next request of this key has its turn. */
  grant(key: string): void {
    this.granted.add(key);
  }

  /** Nothing is sent for so many ms, to whatever endpoint. */
  hold(forMs: number): void {
    this.heldUntil = Math.max(this.heldUntil, this.scheduler.now() + forMs);
  }

  /** Ms until a request may leave to some endpoint. */
  get pausedMs(): number {
    return Math.max(this.heldMs, this.own.pausedMs());
  }

  admit(request: GateRequest): ReturnType<Gate['admit']> {
    return concat(
      this.own.admit(request),
      defer(() => this.turn(request.key)),
    );
  }

  observe(answer: GateAnswer): void {
    const { status } = answer;
    this.own.observe(answer);
    const pausedMs = this.own.pausedMs();
    if (isRefusal(answer) && pausedMs > 0) this.keeper.pause('rate-limited', pausedMs);
    else if (status !== 0 && status !== 429 && status < 500) this.keeper.heard();
  }

  private get heldMs(): number {
    return Math.max(this.heldUntil - this.scheduler.now(), 0);
  }

  private turn(key: string): Observable<never> {
    if (this.granted.delete(key) && this.heldMs === 0) return EMPTY;
    const turn = defer(() => (this.heldMs > 0 ? timer(this.heldMs, this.scheduler) : this.keeper.turn()));
    return turn.pipe(ignoreElements());
  }
}
