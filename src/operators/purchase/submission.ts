import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  of,
  takeUntil,
  timer,
  type Observable,
  isObservable,
} from 'rxjs';
import { failureCodes, type FailureCode } from '../../contract/failure-code.js';
import type { CheckpointEvent, Failed, JobEvent, Outcome, WaitReason } from '../../contract/outcome.js';
import { clampTimer } from '../../policy/clamp-timer.js';
import { sharedIdText } from '../../policy/job-ids.js';
import { retryDelayMs } from '../../policy/retry-delay.js';
import type { Reading } from '../../transport/read-reply.js';
import type { WireRequest } from '../../transport/transport.js';
import { deadline } from '../timers/deadline.js';
import { lastOf, type Steps } from '../flow.js';
import { againAfter } from '../requests/ask-until-answered.js';
import {
  exchange,
  passGate,
  visitOf,
  waitAtGate,
  type ClientContext,
  type Judged,
  type RequestSlot,
} from '../requests/exchange.js';
import { failureOf, whatWasAsked, type FailureFacts } from '../requests/outcome-of.js';
import { addressed, awaitCallback, untilCalledBack, type CalledBuyer } from './callback-steps.js';
import { awaitCheckpoint, refusedBy, type JobSpec } from './job-spec.js';

/** The answer to a POST that was not refused: a job, or the value of a route. */
export type Answer = Extract<Reading, { body: 'job' | 'value' }>;

/** The job that a submission works for. */
export interface Buyer extends CalledBuyer {
  /** Nothing was accepted, and nothing has ended. */
  readonly isOpen: boolean;
  /** Emits when the job is cancelled while nothing is sent, when a callback has ended it, and when it is to wait for one no longer. */
  readonly interruption: Observable<unknown>;
  /** The key of the job that has this id already; `undefined`: this one has it now. */
  claim(jobId: string): string | undefined | PromiseLike<string | undefined>;
  /** From here to `rest`, which is a step of its own, the run goes on without subscribers. */
  begin(): void;
  rest(): Observable<never>;
  /** The service accepted the POST. */
  answered(answer: Answer, request: WireRequest): void;
  end(outcome: Outcome<unknown>): void;
  /** The POST was provably not accepted, and may be sent again. */
  refused(): void;
}

/**
 * gate → intent → POST → verdict; after a provable refusal all of it again, after a wait. The waits can be left at any
 * time. From the intent until the result of the POST is durable nothing is cut off.
 */
export class Submission<O> {
  /** When the last POST left, in ms since the epoch. */
  sentAt: number | undefined;
  /** No POST is on the wire, and none was accepted. */
  isUnsent = true;
  private request: WireRequest | undefined;
  private attempts = 0;
  /** The POST had no answer, and a callback may name its job. */
  awaitsCallback = false;
  private deadlineAt = 0;
  private refusals = 0;
  private tokens: number | undefined;
  private notBefore = { at: 0, why: 'backoff' as WaitReason };
  private lastRefusal: Failed | undefined;
  /** Taken before the intent, so that a job without one is left and cancelled at will; given back after the POST. */
  private readonly slot: RequestSlot | undefined;

  constructor(
    private readonly spec: JobSpec<O>,
    private readonly context: ClientContext,
    private readonly buyer: Buyer,
  ) {
    this.slot = context.slots?.of('submit');
  }

  /** @param deadlineAt what has not been sent by then is not sent any more; in ms since the epoch */
  *steps(deadlineAt: number): Steps<JobEvent<O>> {
    const { request } = this.spec;
    this.deadlineAt = deadlineAt;
    if (typeof request === 'function') this.request ??= request();
    else if (isObservable(request)) this.request ??= yield* lastOf(request);
    else this.request = request;
    yield* this.tries(deadlineAt);
  }

  private *tries(deadlineAt: number): Steps<JobEvent<O>> {
    const { buyer, request } = this;
    if (request === undefined) return;
    do {
      if (!this.passesNow(deadlineAt)) yield this.turn(request, deadlineAt);
      if (!buyer.isOpen) this.slot?.release();
      else yield* this.slot === undefined ? this.attempt(request) : this.attemptWithin(this.slot, request);
    } while (buyer.isOpen);
  }

  /** The POST that may have been accepted, from 1. */
  get openAttempt(): number | undefined {
    return this.isUnsent ? undefined : this.attempts;
  }

  /** Whether there is nothing to wait for, which is the usual case. */
  private passesNow(deadlineAt: number): boolean {
    const { context, spec, buyer, notBefore } = this;
    const now = context.scheduler.now();
    if (buyer.isCancelled || notBefore.at > now || deadlineAt <= now || this.slot !== undefined) return false;
    return context.gate.tryPass?.(visitOf(context, 'submit', spec.key)) ?? false;
  }

  /** The wait for the next attempt, which can be left at any time. */
  private turn(request: WireRequest, at: number): Observable<JobEvent<O>> {
    const { context, buyer, spec } = this;
    if (buyer.isCancelled) {
      buyer.end(this.cancelled());
      return EMPTY;
    }
    const atGate = defer(() =>
      this.slot === undefined
        ? waitAtGate(context.gate, visitOf(context, 'submit', spec.key))
        : passGate(context, 'submit', spec.key, this.slot),
    );
    const otherwise = () => {
      buyer.end(
        this.lastRefusal ?? failedBefore(whatWasAsked(request), 'not sent: its deadline passed', 'refused'),
      );
      return EMPTY;
    };
    return concat(this.pause(), atGate).pipe(
      takeUntil(buyer.interruption),
      deadline<JobEvent<O>>({ at, otherwise, timers: context.timers }),
    );
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

  private *attemptWithin(slot: RequestSlot, request: WireRequest): Steps<JobEvent<O>> {
    try {
      yield* this.attempt(request);
    } finally {
      slot.release();
    }
  }

  private *attempt(request: WireRequest): Steps<JobEvent<O>> {
    const { spec, buyer } = this;
    buyer.begin();
    this.attempts += 1;
    if (spec.trace !== undefined) spec.trace.attempt = this.attempts;
    const { webhook, trace } = spec;
    const sent =
      webhook === undefined ? request : yield* addressed(request, { webhook, trace, attempt: this.attempts });
    yield this.checkpoint({ type: 'intent', sync: spec.sync, attempt: this.attempts });
    // The intent may have taken its time to become durable.
    if (!buyer.isCancelled && buyer.isFollowed) return yield* this.post(sent);
    this.slot?.release();
    yield this.checkpoint({ type: 'refused', why: 'not sent: nobody waited for it any more' });
    yield buyer.rest();
  }

  /** The one place from which a purchase goes on the wire. */
  private *post(request: WireRequest): Steps<JobEvent<O>> {
    const { spec, context } = this;
    const { key, purpose, retried, trace, webhook } = spec;
    this.isUnsent = false;
    yield { type: 'submitting', sync: spec.sync } satisfies JobEvent<O>;
    this.sentAt = context.scheduler.now();
    const asking = { key, purpose, request, trace, ...(retried !== undefined && { jobId: retried }) };
    const answer = exchange(asking, context);
    const judged =
      webhook === undefined
        ? yield* lastOf(answer)
        : yield* untilCalledBack(answer, { webhook, context, buyer: this.buyer });
    this.slot?.release();
    if (judged === undefined) return;
    const claimed = this.ownerOf(judged);
    const owner = typeof claimed === 'object' ? yield* lastOf(claimed) : claimed;
    if (typeof owner === 'string') yield* this.heldBy(owner, judged, request);
    else yield* this.judged(judged, request);
  }

  /** Claims the job id of the answer, and returns the key of the job that has it already. A requeued job keeps its id. */
  private ownerOf({ reading }: Judged) {
    const { purpose } = this.spec;
    if (reading === undefined || !('job' in reading) || purpose !== 'submit') return undefined;
    const jobId = reading.job.id;
    return jobId === undefined ? undefined : this.buyer.claim(jobId);
  }

  /** Another job has the id of the answer: nobody knows what this POST bought. */
  private *heldBy(owner: string, { reading }: Judged, request: WireRequest): Steps<JobEvent<O>> {
    const jobId = reading !== undefined && 'job' in reading ? (reading.job.id ?? '') : '';
    yield* this.unknown(failedBefore(whatWasAsked(request), sharedIdText(jobId, owner), 'unknown'), request);
  }

  /** Nobody knows what the POST has bought, unless a callback names its job. */
  private *unknown(failed: Failed, request: WireRequest): Steps<JobEvent<O>> {
    const { buyer, context, deadlineAt: at } = this;
    const { webhook } = this.spec;
    if (webhook !== undefined) {
      this.awaitsCallback = true;
      yield* awaitCallback<O>(request, { webhook, buyer, context, at });
      this.awaitsCallback = false;
    }
    if (buyer.isOpen) buyer.end(failed);
  }

  private *judged(judged: Judged, request: WireRequest): Steps<JobEvent<O>> {
    const { verdict, reading } = judged;
    const { buyer, context } = this;
    if (verdict.verdict === 'again') return yield* this.refused(verdict.usedUp, judged, request);
    if (verdict.verdict === 'answer' && (reading?.body === 'job' || reading?.body === 'value')) {
      context.quota.succeeded(this.tokens);
      return buyer.answered(reading, request);
    }
    const code = verdict.verdict === 'final' ? verdict.code : 'unknown';
    const advice = verdict.verdict === 'ambiguous' ? this.adviceOn(judged) : undefined;
    const failed = failureOf(code, judged, this.facts(request, advice));
    if (failureCodes[code].scope === 'stop') return yield* this.stopped(failed);
    if (code === 'unknown') return yield* this.unknown(failed, request);
    buyer.end(failed);
  }

  private *refused(code: FailureCode, judged: Judged, request: WireRequest): Steps<JobEvent<O>> {
    const { context, spec, buyer } = this;
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
    this.isUnsent = true;
    buyer.refused();
    yield buyer.rest();
  }

  /** Provably not accepted, and no further try. */
  private *stopped(failed: Failed): Steps<JobEvent<O>> {
    yield this.checkpoint(refusedBy(failed));
    this.buyer.end(failed);
  }

  /** The end of a job that was cancelled before it was sent. */
  cancelled(): Failed {
    return failedBefore(this.whatIsSent(), 'cancelled before it was sent', 'job-cancelled');
  }

  private whatIsSent(): string {
    const { endpoint, request } = this.spec;
    if (this.request !== undefined) return whatWasAsked(this.request);
    try {
      if (isObservable(request)) return endpoint;
      return whatWasAsked(typeof request === 'function' ? request() : request);
    } catch {
      return endpoint;
    }
  }

  private checkpoint(event: CheckpointEvent<O>): Observable<never> {
    return awaitCheckpoint(this.spec.checkpoint, event);
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

function failedBefore(what: string, why: string, code: FailureCode): Failed {
  return { status: 'failed', code, paid: failureCodes[code].paid, message: `${what}: ${why}` };
}
