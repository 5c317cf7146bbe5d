import { Observable, Subscription } from 'rxjs';
import { checkNumber } from '../../contract/check-option.js';
import type { RequestKind } from '../../policy/gates/gate.js';
import { callHook } from '../../policy/guard-hooks.js';
import { OneTeardown } from '../../policy/one-teardown.js';
import { flow, type Steps } from '../flow.js';
import { createLanes, onceAllHaveLeft, type Lanes } from '../within-lane.js';
import type { QueuedPoll, RequestSlot } from './exchange.js';
import { mostBrief, type ReplyShare, type ReplySizes } from './reply-room.js';

/**
 * Limits how many requests are on the wire at once, for a client and for each of its endpoints. A free slot goes to the
 * endpoint and kind of request with the fewest slots, so that polls do not wait behind all submissions, or one endpoint behind
 * another.
 */
export class RequestSlots {
  readonly #replies: ReplySizes;
  readonly #bounds: readonly Lanes[] | undefined;
  readonly #endpoint: string;
  readonly #brief: Partial<Record<RequestKind, readonly Lanes[]>> = {};
  /** The first and the last of the polls that wait for a slot. */
  #first: QueuedPoll | undefined;
  #last: QueuedPoll | undefined;
  /** A slot waits for the first of them. */
  #isWaiting = false;
  #isDealing = false;

  /**
   * @param replies the sizes of the replies to polls, which need room as well, unless the number of requests has no limit at all
   * @param bounds limits in each of which a request needs a slot, taken in this order. Without any, each kind of request that
   *   is answered at once has its own limit: a process then opens fewer connections than it has jobs in flight, and polls do
   *   not wait behind submissions that hang
   * @param endpoint host and id, by which bounds of several endpoints are shared fairly
   */
  constructor(replies: ReplySizes, bounds: readonly Lanes[] | undefined, endpoint: string) {
    this.#replies = replies;
    this.#bounds = bounds;
    this.#endpoint = endpoint;
  }

  /** The same endpoint with these limits, where replies have the same sizes. */
  within(bounds: readonly Lanes[]): RequestSlots {
    return new RequestSlots(this.#replies, bounds, this.#endpoint);
  }

  /**
   * @param isLong whether the service may answer only after working on the request
   * @returns `undefined` if the request has no limit
   */
  of(kind: RequestKind, isLong: boolean): RequestSlot | undefined {
    const bounds = this.#bounds ?? (isLong ? [] : (this.#brief[kind] ??= boundOf(mostBrief)));
    if (bounds.length === 0) return undefined;
    const replies = kind === 'poll' && !isLong ? this.#replies : undefined;
    const queue = kind === 'poll' ? this : undefined;
    return new Slot(bounds, `${this.#endpoint} ${kind}`, replies, queue);
  }

  /** Whether polls wait for a slot: others go behind them. */
  get hasQueue(): boolean {
    return this.#first !== undefined;
  }

  /**
   * Calls `slotTaken` of the poll in its turn, synchronously if a slot is free. Only the first poll of the queue has a slot that
   * waits, because thousands may wait, and each would take 500 bytes.
   */
  queue(poll: QueuedPoll): void {
    if (this.#last === undefined) this.#first = poll;
    else this.#last.behind = poll;
    this.#last = poll;
    this.#deal();
  }

  /** A trampoline, so that polls that end synchronously do not nest. */
  #deal(): void {
    if (this.#isDealing) return;
    this.#isDealing = true;
    for (let next = this.#first; next !== undefined && !this.#isWaiting; next = this.#first) {
      if (next instanceof OwnTurn) {
        this.#dequeue();
        next.slotTaken(undefined);
        continue;
      }
      this.#isWaiting = true;
      const slot = this.of('poll', false);
      if (slot === undefined) this.#begin(slot);
      else slot.take(() => this.#begin(slot));
    }
    this.#isDealing = false;
  }

  #begin(slot: RequestSlot | undefined): void {
    this.#isWaiting = false;
    let poll = this.#dequeue();
    while (poll?.closed === true) poll = this.#dequeue();
    if (poll === undefined) return slot?.release();
    const next = poll;
    callHook(() => next.slotTaken(slot));
    this.#deal();
  }

  #dequeue(): QueuedPoll | undefined {
    const first = this.#first;
    this.#first = first?.behind;
    if (this.#first === undefined) this.#last = undefined;
    if (first !== undefined) first.behind = undefined;
    return first;
  }
}

/**
 * The place in the queue of a request that has a slot of its own, as a poll that is tried again has: so it does not overtake all
 * that came before. In its turn its own slot begins to wait for the limits.
 */
class OwnTurn implements QueuedPoll {
  behind: QueuedPoll | undefined;

  constructor(
    private readonly waiting: Subscription,
    private readonly begin: () => void,
  ) {}

  get closed(): boolean {
    return this.waiting.closed;
  }

  slotTaken(slot: RequestSlot | undefined): void {
    if (!this.closed) callHook(this.begin);
    slot?.release();
  }
}

class Slot implements RequestSlot {
  #share: ReplyShare | undefined;
  #held = Subscription.EMPTY;
  #isHeld = false;
  /** The gate refused the last try: the slot waits for the gate and does not try again. */
  #isHeldUp = false;

  constructor(
    private readonly bounds: readonly Lanes[],
    private readonly lane: string,
    private readonly replies: ReplySizes | undefined,
    /** The polls that it waits behind. */
    private readonly queue: RequestSlots | undefined,
  ) {}

  /** Calls `done` once there is a slot of each limit and room for the reply, synchronously if they are free. */
  take(done: () => unknown): void {
    const held = new OneTeardown();
    this.#held = held;
    this.#takeFrom(0, held, done);
  }

  passesNow(tryPass: () => boolean): boolean {
    if (this.#isHeldUp) return false;
    const turn: { passes?: boolean } = {};
    const pass = () => (turn.passes = tryPass());
    if (this.#isHeld) pass();
    else if (this.queue?.hasQueue !== true) this.take(pass);
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

  read(bytes: number, isResult: boolean): void {
    this.replies?.read(bytes, isResult);
    if (this.#share !== undefined) this.replies?.room.resize(this.#share, bytes);
  }

  release(): void {
    this.#isHeld = false;
    this.#held.unsubscribe();
  }

  releaseLater(): void {
    if (!this.#held.closed) onceAllHaveLeft(() => this.release());
  }

  #taken(): Observable<never> {
    return new Observable((subscriber) => {
      const take = () => this.take(() => subscriber.complete());
      if (this.queue === undefined) take();
      else this.queue.queue(new OwnTurn(subscriber, take));
      return () => {
        if (!this.#isHeld) this.release();
      };
    });
  }

  /** Takes the slots of the limits from this one on. It has no closure that a request keeps while it waits for all of them. */
  #takeFrom(index: number, held: Subscription, done: () => unknown): void {
    const lanes = this.bounds[index];
    if (lanes !== undefined)
      return held.add(lanes.take(this.lane, () => this.#takeFrom(index + 1, held, done)));
    const replies = this.replies;
    const taken = () => {
      this.#isHeld = true;
      done();
    };
    if (replies === undefined) return taken();
    const share = replies.room.take(replies.expected, taken);
    this.#share = share;
    held.add(() => {
      this.#share = undefined;
      replies.room.resize(share, 0);
    });
  }
}

/** @throws InvalidOptionError */
export function boundOf(maxConcurrency: number | undefined): Lanes[] {
  if (maxConcurrency === undefined || maxConcurrency === Infinity) return [];
  checkNumber('maxConcurrency', maxConcurrency, 'whole number from 1');
  return [createLanes({ slots: maxConcurrency })];
}
