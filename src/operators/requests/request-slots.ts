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

  of(kind: RequestKind): RequestSlot {
    return new Slot(this.bounds, `${this.endpoint} ${kind}`);
  }
}

class Slot implements RequestSlot {
  private held = new Subscription();

  constructor(
    private readonly bounds: readonly Lanes[],
    private readonly lane: string,
  ) {}

  pass<T>(tryPass: () => boolean, admitted: Observable<T>): Observable<T> {
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
      const held = new Subscription();
      this.held = held;
      let isTaken = false;
      const take = (index: number) => {
        const lanes = this.bounds[index];
        if (lanes !== undefined) return held.add(lanes.take(this.lane, () => take(index + 1)));
        isTaken = true;
        subscriber.complete();
      };
      take(0);
      return () => {
        if (!isTaken) held.unsubscribe();
      };
    });
  }
}

/** @throws InvalidOptionError */
export function boundOf(maxConcurrency: number | undefined): Lanes[] {
  if (maxConcurrency === undefined || maxConcurrency === Infinity) return [];
  checkNumber('maxConcurrency', maxConcurrency, 'whole number from 1');
  return [createLanes({ slots: maxConcurrency })];
}
