import { asyncScheduler, type SchedulerLike, type Subscription } from 'rxjs';
import { clampTimer } from '../policy/client-clock.js';

/** Notices a reply of which no more bytes come. Its timer is not set anew with each part: it looks how long ago the last one came. */
export class ReplyWatch {
  private cameAt: number;
  private timer: Subscription;

  /**
   * @param idleMs how long no byte may come, in ms
   * @param stalled called once, unless the watch is ended before
   */
  constructor(
    private readonly idleMs: number,
    private readonly stalled: () => void,
    private readonly scheduler: SchedulerLike = asyncScheduler,
  ) {
    this.cameAt = scheduler.now();
    this.timer = this.lookIn(idleMs);
  }

  came(): void {
    this.cameAt = this.scheduler.now();
  }

  end(): void {
    this.timer.unsubscribe();
  }

  private lookIn(ms: number): Subscription {
    return this.scheduler.schedule(() => this.look(), clampTimer(ms));
  }

  private look(): void {
    // Never more than the limit, even if the clock was set back.
    const leftMs = Math.min(this.idleMs, this.cameAt + this.idleMs - this.scheduler.now());
    if (leftMs > 0) this.timer = this.lookIn(leftMs);
    else this.stalled();
  }
}
