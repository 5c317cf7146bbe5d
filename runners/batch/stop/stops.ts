import { BehaviorSubject, filter, type Observable } from 'rxjs';
import type { RunEnd } from './worst-end.js';
import { worstEnd } from './worst-end.js';

/** What ends a run before its rows do. */
export interface StopCause {
  readonly exitCode: number;
  /** One sentence: what happened, and how to go on. */
  readonly reason: string;
  /** What is left as it is, to be gone on with by a later start; the rest ends first. New rows are never taken. */
  readonly leaves: readonly Leaving[];
}

/** `submits`: rows that have not been sent. `polls`: jobs whose id is journalled. `saves`: pictures. `answers`: replies on their way. */
export type Leaving = 'submits' | 'polls' | 'saves' | 'answers';

/** Why a run stops, and what it leaves. Causes add up; the run ends with the most important one. */
export class Stops {
  /** What is left so far; `undefined` while rows are taken. */
  readonly leaving$ = new BehaviorSubject<ReadonlySet<Leaving> | undefined>(undefined);
  private readonly causes: StopCause[] = [];

  get isStopping(): boolean {
    return this.causes.length > 0;
  }

  /** What the run ends with; `undefined`: nothing stopped it. */
  get end(): RunEnd | undefined {
    return worstEnd(this.causes.map(({ exitCode, reason }) => ({ exitCode, reason })));
  }

  leaves(what: Leaving): boolean {
    return this.leaving$.value?.has(what) === true;
  }

  /** Emits when it is, at once when it is already. */
  left(what: Leaving): Observable<unknown> {
    return this.leaving$.pipe(filter((leaving) => leaving?.has(what) === true));
  }

  /** Returns whether it is the first of its kind. */
  stop(cause: StopCause): boolean {
    const isNew = !this.causes.some(({ exitCode }) => exitCode === cause.exitCode);
    if (isNew) this.causes.push(cause);
    this.leaving$.next(new Set([...(this.leaving$.value ?? []), ...cause.leaves]));
    return isNew;
  }
}
