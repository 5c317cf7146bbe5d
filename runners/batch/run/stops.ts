import { BehaviorSubject, filter, type Observable } from 'rxjs';

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

/** From the cause that matters most to the one that matters least. Interruptions stand above all. */
const order = [70, 74, 4, 2, 3, 5, 69, 6, 1];

/** Why a run stops, and what it leaves. Causes add up; the one that matters most is told. */
export class Stops {
  /** What is left so far; `undefined` while rows are taken. */
  readonly leaving$ = new BehaviorSubject<ReadonlySet<Leaving> | undefined>(undefined);
  private readonly causes: StopCause[] = [];

  get isStopping(): boolean {
    return this.causes.length > 0;
  }

  /** The cause that the run ends with; `undefined`: none. */
  get cause(): StopCause | undefined {
    return this.causes.reduce<StopCause | undefined>(
      (first, cause) => (first === undefined || rank(cause.exitCode) < rank(first.exitCode) ? cause : first),
      undefined,
    );
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

/** Smaller matters more. */
export function rank(exitCode: number): number {
  const place = order.indexOf(exitCode);
  return exitCode >= 128 ? -1 : place < 0 ? order.length : place;
}
