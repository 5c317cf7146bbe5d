import { BehaviorSubject, filter, Observable } from 'rxjs';
import type { UnendedStatus } from '../row/row-status.js';
import { worstEnd, type RunEnd } from './worst-end.js';

/** A reason that ends a run before its rows have ended. */
export interface StopCause extends RunEnd {
  /**
   * Rows in these states are left as they are, for a later start to continue; the others end first. `open`: not sent.
   * `sent`: the answer is on its way. `accepted`: the job id is journalled. `replied`: the picture is not saved. New
   * rows are never started.
   */
  readonly leaves: readonly UnendedStatus[];
  /** Rows that have not reserved their price are left too: one in front of them could not. @defaultValue false */
  readonly leavesUnreserved?: boolean;
}

/** A row in flight, which a stopping run may leave. */
export interface Leavable {
  leave(leaving: ReadonlySet<UnendedStatus>): void;
}

/** Why a run stops, and which rows it leaves. Causes add up; the run ends with the most important one. */
export class Stops {
  /** States of the rows that are left so far; `undefined` while the run is not stopping. */
  readonly leaving$ = new BehaviorSubject<ReadonlySet<UnendedStatus> | undefined>(undefined);
  /** Emits these states once there are any, and whenever there are more. */
  readonly stopping$ = new Observable<ReadonlySet<UnendedStatus>>((subscriber) => {
    const row: Leavable = { leave: (leaving) => subscriber.next(leaving) };
    this.join(row);
    return () => this.part(row);
  });
  /** A set, so that each of the many rows in flight can part quickly. */
  private readonly rows = new Set<Leavable>();
  private readonly causes: StopCause[] = [];
  /** One of the causes leaves rows that have not reserved their price. */
  leavesUnreserved = false;

  get isStopping(): boolean {
    return this.causes.length > 0;
  }

  /** How the run ends; `undefined` if nothing stopped it. */
  get end(): RunEnd | undefined {
    return worstEnd(this.causes);
  }

  leaves(status: UnendedStatus): boolean {
    return this.leaving$.value?.has(status) === true;
  }

  /** Emits once rows in this state are left; at once if they already are. */
  left(status: UnendedStatus): Observable<unknown> {
    return this.leaving$.pipe(filter((leaving) => leaving?.has(status) === true));
  }

  /** Calls the row with the states that are left, at once if there are any, and whenever there are more. */
  join(row: Leavable): void {
    this.rows.add(row);
    const { value } = this.leaving$;
    if (value !== undefined) row.leave(value);
  }

  part(row: Leavable): void {
    this.rows.delete(row);
  }

  /** Adds a cause. Returns whether it is the first one with its exit code. */
  stop(cause: StopCause): boolean {
    const isNew = !this.causes.some(({ exitCode }) => exitCode === cause.exitCode);
    if (isNew) this.causes.push(cause);
    this.leavesUnreserved ||= cause.leavesUnreserved === true;
    const leaving = new Set([...(this.leaving$.value ?? []), ...cause.leaves]);
    this.leaving$.next(leaving);
    for (const row of [...this.rows]) row.leave(this.leaving$.value ?? leaving);
    return isNew;
  }
}
