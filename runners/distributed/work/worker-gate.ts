import { concat, defer, EMPTY, ignoreElements, timer, type Observable, type SchedulerLike } from 'rxjs';
import type { WaitReason } from '../../../src/contract/outcome.js';
import { AdaptiveRateLimiter } from '../../../src/policy/gates/adaptive-rate-limiter.js';
import { isRefusal, type Gate, type GateAnswer, type GateRequest } from '../../../src/policy/gates/gate.js';
import { createEndpointGate, type EndpointGate } from '../../../src/policy/gates/endpoint-gate.js';

/** The shared gate in the database. */
export interface GateKeeper {
  pause(why: WaitReason, askedMs: number): void;
  /** The service gave a good answer. */
  answered(): void;
  /** Takes a turn for a request that has none; resolves when the request may leave. */
  turn(): Promise<unknown>;
}

interface WorkerGateOptions {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  /** The run has a fixed rate, which the turns keep; otherwise each worker finds the rate of an endpoint out. */
  readonly isRated: boolean;
}

/**
 * The gate of a run for the requests of one worker. Each worker finds the pauses and rates of endpoints out, as a local run
 * does; a work item comes with its turn. When all endpoints that this worker calls refuse, the pause holds for all workers.
 */
export class WorkerGate implements Gate {
  private readonly granted = new Set<string>();
  private readonly own: EndpointGate;
  private readonly scheduler: SchedulerLike;
  private heldUntil = 0;

  constructor(
    private readonly keeper: GateKeeper,
    { scheduler, random, isRated }: WorkerGateOptions,
  ) {
    this.scheduler = scheduler;
    const rates = isRated ? {} : { own: () => new AdaptiveRateLimiter(scheduler) };
    this.own = createEndpointGate({ scheduler, random }, rates);
  }

  /** The next request with this key has its turn already. */
  grant(key: string): void {
    this.granted.add(key);
  }

  /** Sends nothing to any endpoint for `forMs`. */
  hold(forMs: number): void {
    this.heldUntil = Math.max(this.heldUntil, this.scheduler.now() + forMs);
  }

  /** Ms until a request to some endpoint may leave. */
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
    else if (status !== 0 && status !== 429 && status < 500) this.keeper.answered();
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
