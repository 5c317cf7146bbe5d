import { defer, EMPTY, ignoreElements, timer, type Observable, type SchedulerLike } from 'rxjs';
import type { Gate } from '../../../src/policy/gate.js';
import type { WaitReason } from '../../../src/contract/outcome.js';

/** What a gate tells the database, and asks of it. */
export interface GateKeeper {
  pause(why: WaitReason, askedMs: number): void;
  heard(): void;
  /** Resolves when a request may leave that no turn was taken for. */
  turn(): Promise<unknown>;
}

/** So many answers in a row that are no answer make a storm: only this worker's way may be broken, so it alone rests. */
const stormAfter = 5;
const restMs = 5_000;

/** The gate of a run as one worker's requests meet it: turns were taken with their pieces, pauses are everybody's. */
export class DeskGate implements Gate {
  private readonly granted = new Set<string>();
  private pausedUntil = 0;
  private broken = 0;

  constructor(
    private readonly keeper: GateKeeper,
    private readonly scheduler: SchedulerLike,
  ) {}

  /** The next request of this key has its turn. */
  grant(key: string): void {
    this.granted.add(key);
  }

  /** Nobody sends anything for so long. */
  hold(forMs: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.scheduler.now() + forMs);
  }

  get pausedMs(): number {
    return Math.max(this.pausedUntil - this.scheduler.now(), 0);
  }

  admit({ key }: Parameters<Gate['admit']>[0]): Observable<never> {
    return defer(() => {
      if (this.granted.delete(key) && this.pausedMs === 0) return EMPTY;
      return defer(() => (this.pausedMs > 0 ? timer(this.pausedMs, this.scheduler) : this.keeper.turn()));
    }).pipe(ignoreElements());
  }

  observe({ status, retryAfterMs }: Parameters<Gate['observe']>[0]): void {
    if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
      this.hold(retryAfterMs ?? 250);
      this.keeper.pause('rate-limited', retryAfterMs ?? 0);
    } else if (status !== 0 && status < 500) {
      this.broken = 0;
      this.keeper.heard();
    } else if (++this.broken >= stormAfter) this.hold(restMs);
  }
}
