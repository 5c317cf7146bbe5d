import { BehaviorSubject, filter, Observable, type Subscriber } from 'rxjs';
import type { UnendedStatus } from '../row/row-status.js';
import { worstEnd, type RunEnd } from './worst-end.js';

/** What ends a run before its rows do. */
export interface StopCause extends RunEnd {
  /**
   * Rows in these states are left as they are, to be gone on with by a later start; the others end first. `open`: they have
   * not been sent. `sent`: their answer is on its way. `accepted`: their id is journalled. `replied`: their picture is not saved.
   * New rows are never taken.
   */
  readonly leaves: readonly UnendedStatus[];
}

/** Why a run stops, and what it leaves. Causes add up; the run ends with the most important one. */
export class Stops {
  /** States of the rows that are left so far; `undefined` while rows are taken. */
  readonly leaving$ = new BehaviorSubject<ReadonlySet<UnendedStatus> | undefined>(undefined);
  /** Emits these states once there are any, and whenever more are left. Each row in flight subscribes: a set finds it again at once. */
  readonly stopping$ = new Observable<ReadonlySet<UnendedStatus>>((row) => {
    this.rows.add(row);
    const { value } = this.leaving$;
    if (value !== undefined) row.next(value);
    return () => this.rows.delete(row);
  });
  private readonly rows = new Set<Subscriber<ReadonlySet<UnendedStatus>>>();
  private readonly causes: StopCause[] = [];

  get isStopping(): boolean {
    return this.causes.length > 0;
  }

  /** What the run ends with; `undefined`: nothing stopped it. */
  get end(): RunEnd | undefined {
    return worstEnd(this.causes);
  }

  leaves(status: UnendedStatus): boolean {
    return this.leaving$.value?.has(status) === true;
  }

  /** Emits when it is, at once when it is already. */
  left(status: UnendedStatus): Observable<unknown> {
    return this.leaving$.pipe(filter((leaving) => leaving?.has(status) === true));
  }

  /** Returns whether it is the first of its kind. */
  stop(cause: StopCause): boolean {
    const isNew = !this.causes.some(({ exitCode }) => exitCode === cause.exitCode);
    if (isNew) this.causes.push(cause);
    const leaving = new Set([...(this.leaving$.value ?? []), ...cause.leaves]);
    this.leaving$.next(leaving);
    for (const row of [...this.rows]) row.next(this.leaving$.value ?? leaving);
    return isNew;
  }
}
