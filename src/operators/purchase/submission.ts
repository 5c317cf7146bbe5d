import { EMPTY, Observable, type Subscriber } from 'rxjs';
import { failureCodes, type FailureCode } from '../../contract/failure-code.js';
import type { Failed, JobEvent, CheckpointEvent, Outcome, WaitReason } from '../../contract/outcome.js';
import { retryDelayMs } from '../../policy/retry-delay.js';
import type { Reading } from '../../transport/read-reply.js';
import type { WireRequest } from '../../transport/transport.js';
import { inTurn } from '../in-turn.js';
import { lastOf } from '../last-of.js';
import { againAfter } from '../requests/ask-until-answered.js';
import { Exchange, visitOf, type Desk, type Judged } from '../requests/exchange.js';
import { type FailureFacts, failureOf, whatWasAsked } from '../requests/outcome-of.js';
import { admitted } from '../requests/through-gate.js';
import { waitUntil } from '../timers/call-at.js';
import { deadline } from '../timers/deadline.js';
import { awaitMark, refusalOf } from './checkpoint-events.js';
import type { Order } from './job-spec.js';
import { othersAnswer } from './others-answer.js';
import type { Stage, Steps } from './stage.js';

/** What a POST may be answered with when it was not refused: a job, or the value of a route. */
export type Answer = Extract<Reading, { body: 'job' | 'value' }>;

/** The job that a submission works for. */
export interface Buyer<O> {
  /** Nothing was accepted, and nothing has ended. */
  readonly isOpen: boolean;
  readonly isCancelled: boolean;
  /** An answer of the service: polls come next, or the end. */
  accept(answer: Answer, request: WireRequest): Steps<O>;
  settle(outcome: Outcome<unknown>): Steps<O>;
  /** The POST was provably not accepted, and may be sent again. */
  refused(): void;
}

/**
 * gate → intent → POST → verdict; after a provable refusal all of it again, after a wait. Waits can be left at any time.
 * From the intent on nothing is cut off: the scene ends when what came of the POST is durable.
 */
export class Submission<O> {
  /** When the last POST left, in ms since the epoch. */
  sentAt: number | undefined;
  private attempts = 0;
  private refusals = 0;
  private tokens: number | undefined;
  private notBefore = { at: 0, why: 'backoff' as WaitReason };
  private lastRefusal: Failed | undefined;
  private wait: Subscriber<JobEvent<O>> | undefined;

  constructor(
    private readonly order: Order<O>,
    private readonly desk: Desk,
    private readonly stage: Stage<O>,
    private readonly buyer: Buyer<O>,
  ) {}

  /** @param deadlineAt what has not been sent by then is not sent any more; in ms since the epoch */
  *run(request: WireRequest, deadlineAt: number): Steps<O> {
    const { stage, buyer } = this;
    do {
      if (!this.passesNow(deadlineAt)) yield* this.turn(request, deadlineAt);
      if (buyer.isOpen) yield stage.uninterrupted(inTurn(() => this.attempt(request)));
    } while (buyer.isOpen);
  }

  /** Ends the wait that is on, if one is. */
  leave(): void {
    this.wait?.complete();
  }

  /** The wait for the next attempt, which can be left at any time. */
  private *turn(request: WireRequest, deadlineAt: number): Steps<O> {
    const { desk, stage, buyer } = this;
    const ends: Failed[] = [];
    const otherwise = () => {
      ends.push(this.unsent(request, 'its deadline passed'));
      return EMPTY;
    };
    const waits = new Observable<JobEvent<O>>((wait) => {
      this.wait = wait;
      inTurn(() => this.waits()).subscribe(wait);
    });
    yield stage.noted(
      waits.pipe(deadline<JobEvent<O>>({ at: deadlineAt, otherwise, scheduler: desk.scheduler })),
    );
    this.wait = undefined;
    for (const outcome of ends) yield stage.uninterrupted(inTurn(() => buyer.settle(outcome)));
  }

  /** Whether there is nothing to wait for, which is the usual case: a stream less for every job. */
  private passesNow(deadlineAt: number): boolean {
    const { desk, order, buyer, notBefore } = this;
    const now = desk.scheduler.now();
    if (buyer.isCancelled || notBefore.at > now || deadlineAt <= now) return false;
    return desk.gate.tryPass?.(visitOf(desk, 'submit', order.key)) ?? false;
  }

  /** What is left of the wait after a refusal, also for a subscriber who comes back; then the gate. */
  private *waits(): Steps<O> {
    if (this.buyer.isCancelled) return;
    const { at, why } = this.notBefore;
    const forMs = at - this.desk.scheduler.now();
    if (forMs > 0) {
      yield { type: 'waiting', why, forMs };
      yield waitUntil(at, this.desk.scheduler);
    }
    yield admitted(this.desk.gate, visitOf(this.desk, 'submit', this.order.key));
  }

  private *attempt(request: WireRequest): Steps<O> {
    const { order, buyer } = this;
    if (buyer.isCancelled) return yield* buyer.settle(cancelled(request));
    this.attempts += 1;
    yield this.mark({ type: 'intent', sync: order.sync, attempt: this.attempts });
    yield* this.send(request);
  }

  /** The intent may have taken its time to become durable. */
  private send(request: WireRequest): Steps<O> {
    if (this.buyer.isCancelled || !this.stage.isWatched)
      return [this.mark({ type: 'refused', why: 'not sent: nobody waited for it any more' })];
    return this.post(request);
  }

  /** The one place from which a purchase goes on the wire. */
  private *post(request: WireRequest): Steps<O> {
    yield { type: 'submitting', sync: this.order.sync };
    this.sentAt = this.desk.scheduler.now();
    const { key, purpose, retried } = this.order;
    const asking = { key, purpose, request, ...(retried !== undefined && { jobId: retried }) };
    const talk = new Exchange(asking, this.desk);
    yield talk;
    const judged = talk.result();
    const others = othersAnswer(judged, this.order, { request, jobIds: this.desk.jobIds });
    const doubt = others instanceof Promise ? yield* lastOf(others) : others;
    yield* doubt === undefined ? this.answered(judged, request) : this.buyer.settle(doubt);
  }

  private answered(judged: Judged, request: WireRequest): Steps<O> {
    const { verdict, reading } = judged;
    if (verdict.verdict === 'again') return this.refused(verdict.usedUp, judged, request);
    if (verdict.verdict === 'ambiguous')
      return this.buyer.settle(failureOf('unknown', judged, this.facts(request, this.doubt(judged))));
    if (verdict.verdict === 'answer' && (reading?.body === 'job' || reading?.body === 'value')) {
      this.desk.quota.succeeded(this.tokens);
      return this.buyer.accept(reading, request);
    }
    const code = verdict.verdict === 'final' ? verdict.code : 'unknown';
    const failed = failureOf(code, judged, this.facts(request));
    return failureCodes[code].scope === 'row' ? this.buyer.settle(failed) : this.stopped(failed);
  }

  private *refused(code: FailureCode, judged: Judged, request: WireRequest): Steps<O> {
    const { desk, order } = this;
    this.refusals += 1;
    const failed = failureOf(code, judged, this.facts(request, `tries: ${this.refusals}`));
    this.lastRefusal = failed;
    const tokens = desk.quota.take({ timedOut: judged.fault?.timedOut ?? false });
    if (this.refusals > order.options.retry.maxRetries || tokens === undefined)
      return yield* this.stopped(failed);
    this.tokens = (this.tokens ?? 0) + tokens;
    const again = againAfter(judged);
    const forMs = retryDelayMs(again, this.refusals, desk.random, order.options.retry);
    this.notBefore = {
      at: desk.scheduler.now() + forMs,
      why: again.why === 'rate-limited' ? 'rate-limited' : 'backoff',
    };
    yield this.mark(refusalOf(failed));
    this.buyer.refused();
  }

  /** Provably not accepted, and no further try. */
  private *stopped(failed: Failed): Steps<O> {
    yield this.mark(refusalOf(failed));
    yield* this.buyer.settle(failed);
  }

  private unsent(request: WireRequest, why: string): Failed {
    const message = `${whatWasAsked(request)}: not sent: ${why}`;
    return this.lastRefusal ?? { status: 'failed', code: 'refused', paid: 'no', message };
  }

  private facts(request: WireRequest, advice?: string): FailureFacts {
    const jobId = this.order.retried;
    return { request, ...(jobId !== undefined && { jobId }), ...(advice !== undefined && { advice }) };
  }

  private doubt({ fault }: Judged): string {
    const doubt = 'it may have been accepted, so it is not sent again';
    const raise =
      'raise the timeout of /runsync (--runsync-timeout, executionTimeoutMs), or submit without waiting and poll (--mode async, run)';
    const ranOut = fault?.timedOut === true && fault.phase === 'response';
    return this.order.sync && ranOut ? `${doubt}; ${raise}` : doubt;
  }

  private mark(mark: CheckpointEvent<O>): Observable<never> {
    return awaitMark(this.order.checkpoint, mark);
  }
}

function cancelled(request: WireRequest): Failed {
  const message = `${whatWasAsked(request)}: cancelled before it was sent`;
  return { status: 'failed', code: 'job-cancelled', paid: 'no', message };
}
