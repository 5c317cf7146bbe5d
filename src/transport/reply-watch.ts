import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs';
import { clampTimer } from '../policy/client-clock.js';

/** Notices a reply of which no more bytes come. Its timer is not set anew with each part: it looks how long ago the last one came. */
export class ReplyWatch {
  private cameAt: number;
  private readonly timer: Subscription;

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
    this.timer = scheduler.schedule<ReplyWatch>(look, clampTimer(idleMs), this);
  }

  /** Call it with each part of the reply. */
  came(): void {
    this.cameAt = this.scheduler.now();
  }

  end(): void {
    this.timer.unsubscribe();
  }

  /** How long no byte may come from now on, in ms; never more than the limit, even if the clock was set back. */
  get leftMs(): number {
    return Math.min(this.idleMs, this.cameAt + this.idleMs - this.scheduler.now());
  }

  over(): void {
    this.stalled();
  }
}

function look(this: SchedulerAction<ReplyWatch>, watch?: ReplyWatch): void {
  if (watch === undefined) return;
  const { leftMs } = watch;
  if (leftMs > 0) this.schedule(watch, clampTimer(leftMs));
  else watch.over();
}
