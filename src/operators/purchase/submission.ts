import { concat, defer, EMPTY, ignoreElements, of, Subject, takeUntil, timer, type Observable } from 'rxjs';
import { failureCodes, type FailureCode } from '../../contract/failure-code.js';
import type { CheckpointEvent, Failed, JobEvent, Outcome, WaitReason } from '../../contract/outcome.js';
import { clampTimer } from '../../policy/clamp-timer.js';
import { retryDelayMs } from '../../policy/retry-delay.js';
import type { Reading } from '../../transport/read-reply.js';
import type { WireRequest } from '../../transport/transport.js';
import { lastOf, type Steps } from '../flow.js';
import { againAfter } from '../requests/ask-until-answered.js';
import { exchanged, visitOf, waitAtGate, type ClientContext, type Judged } from '../requests/exchange.js';
import { failureOf, whatWasAsked, type FailureFacts } from '../requests/outcome-of.js';
import type { SharedExecution } from '../shared-execution.js';
import { deadline } from '../deadline.js';
import { awaitCheckpoint, refusedBy, type JobSpec } from './job-spec.js';
import { othersAnswer } from './others-answer.js';

/** The answer to a POST that was not refused: a job, or the value of a route. */
export type Answer = Extract<Reading, { body: 'job' | 'value' }>;

/** The job that a submission works for. */
export interface Buyer<O> {
  readonly execution: SharedExecution<JobEvent<O>>;
  /** Nothing was accepted, and nothing has ended. */
  readonly isOpen: boolean;
  readonly isCancelled: boolean;
  /** The service accepted the POST: polls come next, or the end. */
  accept(answer: Answer, request: WireRequest): Steps<JobEvent<O>>;
  settle(outcome: Outcome<unknown>): Steps<JobEvent<O>>;
  /** The POST was provably not accepted, and may be sent again. */
  refused(): void;
}

/**
 * gate → intent → POST → verdict; after a provable refusal all of it again, after a wait. The waits can be left at any
 * time. The rest is a critical section: from the intent until the result of the POST is durable.
 */
export class Submission<O> {
  /** When the last POST left, in ms since the epoch. */
  sentAt: number | undefined;
  private attempts = 0;
  private refusals = 0;
  private tokens: number | undefined;
  private notBefore = { at: 0, why: 'backoff' as WaitReason };
  private lastRefusal: Failed | undefined;
  private cancelled: Subject<void> | undefined;

  constructor(
    private readonly spec: JobSpec<O>,
    private readonly context: ClientContext,
    private readonly buyer: Buyer<O>,
  ) {}

  /** @param deadlineAt what has not been sent by then is not sent any more; in ms since the epoch */
  *run(request: WireRequest, deadlineAt: number): Steps<JobEvent<O>> {
    const { buyer } = this;
    do {
      if (!this.passesNow(deadlineAt)) yield* this.turn(request, deadlineAt);
      if (buyer.isOpen) yield* buyer.execution.critical(this.attempt(request));
    } while (buyer.isOpen);
  }

  /** Ends the wait that is on, if one is. */
  leave(): void {
    this.cancelled?.next();
  }

  /** Whether there is nothing to wait for, which is the usual case. */
  private passesNow(deadlineAt: number): boolean {
    const { context, spec, buyer, notBefore } = this;
    const now = context.scheduler.now();
    if (buyer.isCancelled || notBefore.at > now || deadlineAt <= now) return false;
    return context.gate.tryPass?.(visitOf(context, 'submit', spec.key)) ?? false;
  }

  /** The wait for the next attempt, which can be left at any time. */
  private *turn(request: WireRequest, at: number): Steps<JobEvent<O>> {
    const { context, buyer } = this;
    this.cancelled = new Subject();
    const waits = concat(
      this.pause(),
      defer(() => waitAtGate(context.gate, visitOf(context, 'submit', this.spec.key))),
    ).pipe(takeUntil(this.cancelled));
    const late: Failed[] = [];
    const otherwise = () => {
      late.push(this.unsent(request, 'its deadline passed'));
      return EMPTY;
    };
    yield (buyer.isCancelled ? EMPTY : waits).pipe(
      deadline<JobEvent<O>>({ at, otherwise, timers: context.timers }),
    );
    for (const outcome of late) yield* buyer.execution.critical(buyer.settle(outcome));
  }

  /** What is left of the wait after a refusal, also for a subscriber that comes back. */
  private pause(): Observable<JobEvent<O>> {
    const { scheduler } = this.context;
    const { at, why } = this.notBefore;
    const forMs = at - scheduler.now();
    if (forMs <= 0) return EMPTY;
    return concat(
      of<JobEvent<O>>({ type: 'waiting', why, forMs }),
      timer(clampTimer(forMs), scheduler).pipe(ignoreElements()),
    );
  }

  private *attempt(request: WireRequest): Steps<JobEvent<O>> {
    const { spec, buyer } = this;
    if (buyer.isCancelled) return yield* buyer.settle(cancelled(request));
    this.attempts += 1;
    yield this.checkpoint({ type: 'intent', sync: spec.sync, attempt: this.attempts });
    if (this.isWanted()) yield* this.post(request);
    else yield this.checkpoint({ type: 'refused', why: 'not sent: nobody waited for it any more' });
  }

  /** The intent may have taken its time to become durable. */
  private isWanted(): boolean {
    const { isCancelled, execution } = this.buyer;
    return !isCancelled && execution.isSubscribed;
  }

  /** The one place from which a purchase goes on the wire. */
  private *post(request: WireRequest): Steps<JobEvent<O>> {
    const { spec, context, buyer } = this;
    yield { type: 'submitting', sync: spec.sync };
    this.sentAt = context.scheduler.now();
    const { key, purpose, retried } = spec;
    const asking = { key, purpose, request, ...(retried !== undefined && { jobId: retried }) };
    const judged = yield* exchanged(asking, context);
    const others = othersAnswer(judged, spec, { request, jobIds: context.jobIds });
    const held = others instanceof Promise ? yield* lastOf(others) : others;
    yield* held === undefined ? this.answered(judged, request) : buyer.settle(held);
  }

  private answered(judged: Judged, request: WireRequest): Steps<JobEvent<O>> {
    const { verdict, reading } = judged;
    if (verdict.verdict === 'again') return this.refused(verdict.usedUp, judged, request);
    if (verdict.verdict === 'ambiguous')
      return this.buyer.settle(failureOf('unknown', judged, this.facts(request, this.adviceOn(judged))));
    if (verdict.verdict === 'answer' && (reading?.body === 'job' || reading?.body === 'value')) {
      this.context.quota.succeeded(this.tokens);
      return this.buyer.accept(reading, request);
    }
    const code = verdict.verdict === 'final' ? verdict.code : 'unknown';
    const failed = failureOf(code, judged, this.facts(request));
    return failureCodes[code].scope === 'row' ? this.buyer.settle(failed) : this.stopped(failed);
  }

  private *refused(code: FailureCode, judged: Judged, request: WireRequest): Steps<JobEvent<O>> {
    const { context, spec } = this;
    this.refusals += 1;
    const failed = failureOf(code, judged, this.facts(request, `tries: ${this.refusals}`));
    this.lastRefusal = failed;
    const tokens = context.quota.take({ timedOut: judged.fault?.timedOut ?? false });
    if (this.refusals > spec.options.retry.maxRetries || tokens === undefined)
      return yield* this.stopped(failed);
    this.tokens = (this.tokens ?? 0) + tokens;
    const again = againAfter(judged);
    const forMs = retryDelayMs(again, this.refusals, context.random, spec.options.retry);
    this.notBefore = {
      at: context.scheduler.now() + forMs,
      why: again.why === 'rate-limited' ? 'rate-limited' : 'backoff',
    };
    yield this.checkpoint(refusedBy(failed));
    this.buyer.refused();
  }

  /** Provably not accepted, and no further try. */
  private *stopped(failed: Failed): Steps<JobEvent<O>> {
    yield this.checkpoint(refusedBy(failed));
    yield* this.buyer.settle(failed);
  }

  private checkpoint(event: CheckpointEvent<O>): Observable<never> {
    return awaitCheckpoint(this.spec.checkpoint, event);
  }

  private unsent(request: WireRequest, why: string): Failed {
    const message = `${whatWasAsked(request)}: not sent: ${why}`;
    return this.lastRefusal ?? { status: 'failed', code: 'refused', paid: 'no', message };
  }

  private facts(request: WireRequest, advice?: string): FailureFacts {
    const jobId = this.spec.retried;
    return { request, ...(jobId !== undefined && { jobId }), ...(advice !== undefined && { advice }) };
  }

  private adviceOn({ fault }: Judged): string {
    const advice = 'it may have been accepted, so it is not sent again';
    const raise =
      'raise the timeout of /runsync (--runsync-timeout, executionTimeoutMs), or submit without waiting and poll (--mode async, run)';
    const ranOut = fault?.timedOut === true && fault.phase === 'response';
    return this.spec.sync && ranOut ? `${advice}; ${raise}` : advice;
  }
}

function cancelled(request: WireRequest): Failed {
  const message = `${whatWasAsked(request)}: cancelled before it was sent`;
  return { status: 'failed', code: 'job-cancelled', paid: 'no', message };
}
