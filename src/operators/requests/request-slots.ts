import { Observable, Subscription } from 'rxjs';
import { checkNumber } from '../../contract/check-option.js';
import type { RequestKind } from '../../policy/gates/gate.js';
import { OneTeardown } from '../../policy/one-teardown.js';
import { flow, type Steps } from '../flow.js';
import { createLanes, onceAllHaveLeft, type Lanes } from '../within-lane.js';
import type { RequestSlot } from './exchange.js';

/**
 * Limits how many requests are on the wire at once, for a client and for each of its endpoints. A free slot goes to the
 * endpoint and kind of request with the fewest slots, so that polls do not wait behind all submissions, or one endpoint behind
 * another.
 */
export class RequestSlots {
  readonly #bounds: readonly Lanes[] | undefined;
  readonly #endpoint: string;
  readonly #brief: Partial<Record<RequestKind, readonly Lanes[]>> = {};

  /**
   * @param bounds limits in each of which a request needs a slot, taken in this order. Without any, each kind of request that
   *   is answered at once has its own limit: a process then opens fewer connections than it has jobs in flight, and polls do
   *   not wait behind submissions that hang
   * @param endpoint host and id, for bounds of several endpoints
   */
  constructor(bounds?: readonly Lanes[], endpoint = '') {
    this.#bounds = bounds;
    this.#endpoint = endpoint;
  }

  /**
   * @param isLong whether the service may answer only after working on the request
   * @returns `undefined` if the request has no limit
   */
  of(kind: RequestKind, isLong: boolean): RequestSlot | undefined {
    const bounds = this.#bounds ?? (isLong ? [] : (this.#brief[kind] ??= boundOf(mostBrief)));
    return bounds.length === 0 ? undefined : new Slot(bounds, `${this.#endpoint} ${kind}`);
  }
}

/** More than a process needs at a time, because such requests are answered at once. */
const mostBrief = 256;

class Slot implements RequestSlot {
  readonly #bounds: readonly Lanes[];
  readonly #lane: string;
  #held = Subscription.EMPTY;
  /** The gate refused the last try: the slot waits for the gate and does not try again. */
  #isHeldUp = false;

  constructor(bounds: readonly Lanes[], lane: string) {
    this.#bounds = bounds;
    this.#lane = lane;
  }

  passesNow(tryPass: () => boolean): boolean {
    if (this.#isHeldUp) return false;
    const turn: { passes?: boolean } = {};
    this.#take(() => (turn.passes = tryPass()));
    const { passes } = turn;
    this.#isHeldUp = passes === false;
    if (!passes) this.release();
    return !!passes;
  }

  pass<T>(tryPass: () => boolean, admitted: Observable<T>): Observable<T> {
    return flow(() => this.#passing(tryPass, admitted));
  }

  *#passing<T>(tryPass: () => boolean, admitted: Observable<T>): Steps<T> {
    if (!this.#isHeldUp) {
      yield this.#taken();
      if (tryPass()) return;
      this.release();
    }
    this.#isHeldUp = false;
    yield admitted;
    yield this.#taken();
  }

  release(): void {
    this.#held.unsubscribe();
  }

  releaseLater(): void {
    onceAllHaveLeft(() => this.release());
  }

  #taken(): Observable<never> {
    return new Observable((subscriber) => {
      let isTaken = false;
      const held = this.#take(() => {
        isTaken = true;
        subscriber.complete();
      });
      return () => {
        if (!isTaken) held.unsubscribe();
      };
    });
  }

  /** Calls `done` once there is a slot of each limit, synchronously if they are free. */
  #take(done: () => unknown): Subscription {
    const held = new OneTeardown();
    this.#held = held;
    const takeOf = (index: number) => {
      const lanes = this.#bounds[index];
      if (lanes === undefined) return void done();
      held.add(lanes.take(this.#lane, () => takeOf(index + 1)));
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
