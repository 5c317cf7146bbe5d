import { concatMap, dematerialize, map, materialize, Observable, type SchedulerLike } from 'rxjs';
import { Life, type Death } from '../life.js';
import { schedulerOf, type VirtualClock } from '../virtual-clock.js';

/** A process on a machine of its own: its clock goes wrong by hours, and it may stand still and come back. */
export class FleetLife extends Life {
  override readonly scheduler: SchedulerLike;
  /** Its link to the database is cut until then. */
  cutUntil = -Infinity;
  private frozenUntil = -Infinity;

  constructor(clock: VirtualClock, death: Death, skewMs: number) {
    super(clock, death);
    const scheduler = schedulerOf(
      { now: clock.now, in: (ms, work) => this.ringing(ms, work) },
      () => this.isDead,
    );
    this.scheduler = { now: () => clock.now + skewMs, schedule: scheduler.schedule };
  }

  /** As by SIGSTOP: whatever comes waits until it goes on. What it was about to note may have been given up meanwhile. */
  freeze(forMs: number): void {
    this.frozenUntil = this.clock.now + forMs;
    this.wasCutOff = true;
  }

  /** Nothing gets through to the database, and nobody is told. */
  cut(forMs: number): void {
    this.cutUntil = this.clock.now + forMs;
    this.wasCutOff = true;
  }

  kill(): void {
    this.wasCutOff = true;
    this.die();
  }

  /** Once it can take something in. Never for a process that is dead. */
  awake(): Promise<void> {
    return new Promise((resolve) => this.whenAwake(resolve));
  }

  /** What comes to it. */
  reaching<T>(source: Observable<T>): Observable<T> {
    const awake = new Observable<void>((subscriber) => {
      this.whenAwake(() => {
        subscriber.next();
        subscriber.complete();
      });
    });
    return source.pipe(
      materialize(),
      concatMap((what) => awake.pipe(map(() => what))),
      dematerialize(),
    );
  }

  private whenAwake(work: () => void): void {
    if (this.isDead) return;
    if (this.clock.now >= this.frozenUntil) return work();
    this.clock.in(this.frozenUntil - this.clock.now, () => this.whenAwake(work));
  }

  private ringing(ms: number, work: () => void): () => void {
    let isTakenBack = false;
    const takeBack = this.clock.in(ms, () => {
      this.whenAwake(() => {
        if (!isTakenBack) work();
      });
    });
    return () => {
      isTakenBack = true;
      takeBack();
    };
  }
}
