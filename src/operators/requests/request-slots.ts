import { concat, defer, EMPTY, Observable, Subscription } from 'rxjs';
import { checkNumber } from '../../contract/check-option.js';
import type { RequestKind } from '../../policy/gates/gate.js';
import { createLanes, type Lanes } from '../within-lane.js';
import type { RequestSlot } from './exchange.js';

/**
 * How many requests are on the wire at once, of a client and of one endpoint of it. A free slot goes to the endpoint and kind
 * of request that holds the fewest: polls do not wait behind all submissions, nor one endpoint behind another.
 */
export class RequestSlots {
  /**
   * @param bounds what a request needs a slot of, in this order
   * @param endpoint host and id
   */
  constructor(
    private readonly bounds: readonly Lanes[],
    private readonly endpoint: string,
  ) {}

  of(kind: RequestKind): RequestSlot | undefined {
    return this.bounds.length === 0 ? undefined : new Slot(this.bounds, `${this.endpoint} ${kind}`);
  }
}

/** Far more than a process can make use of: each is answered at once. */
const mostBrief = 256;

/**
 * The bound where none is given: on the requests of one endpoint that are answered at once, those of each kind by themselves. So a
 * process does not open as many connections as it has jobs in flight, and polls do not wait behind submissions that hang.
 */
export class BriefSlots {
  private readonly bounds: Partial<Record<RequestKind, readonly Lanes[]>> = {};

  of(kind: RequestKind, isLong: boolean): RequestSlot | undefined {
    if (isLong) return undefined;
    return new Slot((this.bounds[kind] ??= boundOf(mostBrief)), kind);
  }
}

class Slot implements RequestSlot {
  private held = new Subscription();
  /** The gate said no when it was asked last: it is asked for a wait next, and not a second time. */
  private isHeldUp = false;

  constructor(
    private readonly bounds: readonly Lanes[],
    private readonly lane: string,
  ) {}

  passesNow(tryPass: () => boolean): boolean {
    if (this.isHeldUp) return false;
    const turn = { isTaken: false };
    this.take(() => (turn.isTaken = true));
    this.isHeldUp = turn.isTaken && !tryPass();
    if (turn.isTaken && !this.isHeldUp) return true;
    this.release();
    return false;
  }

  pass<T>(tryPass: () => boolean, admitted: Observable<T>): Observable<T> {
    if (this.isHeldUp) {
      this.isHeldUp = false;
      return concat(admitted, this.taken());
    }
    return concat(
      this.taken(),
      defer(() => {
        if (tryPass()) return EMPTY;
        this.release();
        return concat(admitted, this.taken());
      }),
    );
  }

  release(): void {
    this.held.unsubscribe();
  }

  private taken(): Observable<never> {
    return new Observable((subscriber) => {
      let isTaken = false;
      const held = this.take(() => {
        isTaken = true;
        subscriber.complete();
      });
      return () => {
        if (!isTaken) held.unsubscribe();
      };
    });
  }

  /** Calls `done` once there is a slot of each bound, at once where they are free. */
  private take(done: () => unknown): Subscription {
    const held = new Subscription();
    this.held = held;
    const takeOf = (index: number) => {
      const lanes = this.bounds[index];
      if (lanes === undefined) return void done();
      held.add(lanes.take(this.lane, () => takeOf(index + 1)));
    };
    takeOf(0);
    return held;
  }
}

/** @throws InvalidOptionError */
export function boundOf(maxConcurrency: number | undefined): Lanes[] {
  if (maxConcurrency === undefined || maxConcurrency === Infinity) return [];
  checkNumber('maxConcurrency', maxConcurrency, 'whole number from 1');
  return [createLanes({ slots: maxConcurrency })];
}
