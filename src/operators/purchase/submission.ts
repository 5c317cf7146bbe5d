import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  isObservable,
  of,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs';
import { failureCodes, type FailureCode } from '../../contract/failure-code.js';
import type { CheckpointEvent, Failed, JobEvent, WaitReason } from '../../contract/outcome.js';
import { clampTimer } from '../../policy/client-clock.js';
import { sharedIdText } from '../../policy/job-ids.js';
import { retryDelayMs } from '../../policy/retry-delay.js';
import type { WireRequest } from '../../transport/transport.js';
import { deadline } from '../deadline.js';
import { lastOf, type Steps } from '../flow.js';
import { againAfter } from '../requests/ask-until-answered.js';
import { exchange, passGate, visitOf, type Judged, type RequestSlot } from '../requests/exchange.js';
import { failureOf, whatWasAsked } from '../requests/outcome-of.js';
import { awaitCheckpoint, refusedBy } from './job-spec.js';
import type { JobState } from './job-state.js';

/** How callbacks affect a POST, if the service calls back. */
export interface CalledBack<O> {
  /** The request with the callback address of this POST, which is not a part of what is bought. */
  addressed(request: WireRequest): Observable<WireRequest>;
  /** Whether a callback has named a job while the POST has no answer that names one. */
  readonly hasNamed: boolean;
  /** Call it when the POST was answered with this job: earlier callbacks about the job count now. */
  answered(jobId: string): void;
  /** Call it when the refusal of the POST is durable: a job that a callback named meanwhile contradicts it. */
  refused(): void;
  /** After a POST without an answer: waits until a callback names the job, or none can be expected. */
  awaited(request: WireRequest, at: number): Observable<JobEvent<O>>;
}

/**
 * Gate, intent, POST, verdict; after a provable refusal it waits and begins again. The waits can be left at any time. From the
 * intent until the result of the POST is durable, nothing is interrupted.
 */
export class Submission<O> {
  #request: WireRequest | undefined;
  #deadlineAt = 0;
  #refusals = 0;
  #tokens: number | undefined;
  #notBefore = { at: 0, why: 'backoff' as WaitReason };
  #lastRefusal: Failed | undefined;
  /** Taken before the intent, so that a job can be left and cancelled without an intent; released after the POST. */
  #slot: RequestSlot | undefined;

  constructor(
    private readonly job: JobState<O>,
    private readonly callbacks: CalledBack<O> | undefined,
  ) {}

  /** @param deadlineAt nothing is sent after this time, in ms since the epoch */
  *submit(deadlineAt: number): Steps<JobEvent<O>> {
    const { job } = this;
    const { request, sync, purpose } = job.spec;
    // Another one for each run: a run that is left while it asks the gate ends when the next one may have sent its POST.
    const slot = (this.#slot = job.context.slots?.of('submit', sync || purpose === 'route-post'));
    this.#deadlineAt = deadlineAt;
    this.#request ??= isObservable(request) ? yield* lastOf(this.#inTime(request)) : request;
    if (this.#request === undefined) return;
    do {
      try {
        // A step even without a wait: the gate may have left the job.
        yield this.#passesNow() ? EMPTY : this.#turn();
        if (job.isOpen) yield* this.#attempt(this.#request);
      } finally {
        slot?.release();
      }
    } while (job.isOpen);
  }

  /** Whether the request can be sent without a wait, which is the usual case. */
  #passesNow(): boolean {
    const { context, spec, isCancelled } = this.job;
    const now = context.scheduler.now();
    if (isCancelled || this.#notBefore.at > now || this.#deadlineAt <= now) return false;
    const tryPass = () => context.gate.tryPass?.(visitOf(context, 'submit', spec.key)) ?? false;
    return this.#slot?.passesNow(tryPass) ?? tryPass();
  }

  /** The wait for the next attempt, which can be left at any time. */
  #turn(): Observable<JobEvent<O>> {
    const { job } = this;
    const { context, spec } = job;
    if (job.isCancelled) {
      job.end(this.cancelled());
      return EMPTY;
    }
    return this.#inTime(
      concat(
        this.#pause(),
        defer(() => passGate(context, 'submit', spec.key, this.#slot)),
      ),
    );
  }

  /** A wait before the POST, until the job is cancelled or its deadline passes. */
  #inTime<T>(wait: Observable<T>): Observable<T> {
    const { job } = this;
    const otherwise = () => {
      job.end(this.#lastRefusal ?? this.#unsentFor('not sent: its deadline passed', 'refused'));
      return EMPTY;
    };
    const { scheduler } = job.context;
    return wait.pipe(takeUntil(job.interrupted), deadline<T>({ at: this.#deadlineAt, otherwise, scheduler }));
  }

  /** The rest of the wait after a refusal, also for a later subscriber. */
  #pause(): Observable<JobEvent<O>> {
    const { scheduler } = this.job.context;
    const { at, why } = this.#notBefore;
    const forMs = at - scheduler.now();
    if (forMs <= 0) return EMPTY;
    return concat(
      of<JobEvent<O>>({ type: 'waiting', why, forMs }),
      timer(clampTimer(forMs), scheduler).pipe(ignoreElements()),
    );
  }

  *#attempt(request: WireRequest): Steps<JobEvent<O>> {
    const { job, callbacks } = this;
    const { trace, sync, checkpoint } = job.spec;
    job.isCritical = true;
    job.attempts += 1;
    trace.attempt = job.attempts;
    const sent = callbacks && (yield* lastOf(callbacks.addressed(request)));
    yield awaitCheckpoint(checkpoint, { type: 'intent', sync, attempt: job.attempts });
    // A callback may have arrived while the intent became durable.
    const isFound = callbacks?.hasNamed === true;
    if (!isFound && this.#isWanted()) {
      yield { type: 'submitting', sync } satisfies JobEvent<O>;
      // A subscriber may cancel the job on this event. One that leaves here has bought it, unless leaving cancels.
      const goesOnAlone = job.spec.options.onUnsubscribe === 'detach';
      if (this.#isWanted(goesOnAlone)) return yield* this.#post(sent ?? request);
    }
    // Released before the critical section ends, because a run without subscribers is stopped there.
    this.#slot?.release();
    const why = isFound ? 'a callback has named the job of an earlier one' : 'nobody waited for it any more';
    if (isFound) this.#wait({ why: 'transient' });
    yield* this.#unsent({ type: 'refused', why: `not sent: ${why}` });
    if (!isFound) job.refused();
    yield job.rest();
  }

  /** @param goesOnAlone whether the job goes on without subscribers */
  #isWanted(goesOnAlone = false): boolean {
    const { isCancelled, isFollowed } = this.job;
    return !isCancelled && (goesOnAlone || isFollowed);
  }

  /** Sends the POST. Purchases are sent nowhere else. */
  *#post(request: WireRequest): Steps<JobEvent<O>> {
    const { job } = this;
    const { key, purpose, retried, trace } = job.spec;
    job.isUnsent = false;
    job.sentAt = job.context.scheduler.now();
    const asking = { key, purpose, request, trace, ...(retried !== undefined && { jobId: retried }) };
    const judged = yield* lastOf(exchange(asking, job.context));
    this.#slot?.release();
    if (judged === undefined) return;
    // A requeued job keeps its id.
    const jobId = judged.reading !== undefined && 'job' in judged.reading ? judged.reading.job.id : undefined;
    const owner = jobId === undefined || purpose !== 'submit' ? undefined : yield* this.#claim(jobId);
    if (owner === undefined) return yield* this.#judged(judged, request);
    const why = sharedIdText(jobId ?? '', owner);
    yield* this.#unknown(failedBefore(whatWasAsked(request), why, 'unknown'), request);
  }

  /** If the claim fails, the job errors as after a checkpoint that fails: its id stays known. */
  *#claim(jobId: string): Steps<JobEvent<O>, string | undefined> {
    try {
      return yield* lastOf(this.job.claim(jobId));
    } catch (error) {
      this.job.id = jobId;
      throw error;
    }
  }

  /** Ends a POST without a clear answer as unknown, unless a callback names its job. */
  *#unknown(failed: Failed, request: WireRequest): Steps<JobEvent<O>> {
    const { job, callbacks } = this;
    const deadlineAt = this.#deadlineAt;
    if (callbacks !== undefined) yield callbacks.awaited(request, deadlineAt);
    if (job.isOpen) job.end(failed);
  }

  *#judged(judged: Judged, request: WireRequest): Steps<JobEvent<O>> {
    const { verdict, reading } = judged;
    const { job, callbacks } = this;
    if (verdict.verdict === 'answer' && (reading?.body === 'job' || reading?.body === 'value')) {
      job.context.quota.succeeded(this.#tokens);
      job.answer = { value: reading, request };
      return;
    }
    // A refusal does not count if a callback shows that the request created a job.
    const isMade = callbacks?.hasNamed === true;
    if (verdict.verdict === 'again' && !isMade) return yield* this.#refused(verdict.usedUp, judged, request);
    const code = verdict.verdict === 'final' && !isMade ? verdict.code : 'unknown';
    const advice = verdict.verdict === 'ambiguous' ? this.#adviceOn(judged) : undefined;
    const failed = failureOf(code, judged, { request, jobId: job.spec.retried, advice });
    if (failureCodes[code].scope === 'stop') return yield* this.#stopped(failed);
    if (code === 'unknown') return yield* this.#unknown(failed, request);
    job.end(failed);
  }

  *#refused(code: FailureCode, judged: Judged, request: WireRequest): Steps<JobEvent<O>> {
    const { job } = this;
    const { context, spec } = job;
    const { retry } = spec.options;
    const advice = `tries: ${(this.#refusals += 1)}`;
    const failed = failureOf(code, judged, { request, jobId: spec.retried, advice });
    this.#lastRefusal = failed;
    const tokens = context.quota.take({ timedOut: judged.fault?.timedOut ?? false });
    if (this.#refusals > retry.maxRetries || tokens === undefined) return yield* this.#stopped(failed);
    this.#tokens = (this.#tokens ?? 0) + tokens;
    this.#wait(againAfter(judged));
    yield* this.#unsent(refusedBy(failed));
    job.refused();
    yield job.rest();
  }

  #wait(again: Parameters<typeof retryDelayMs>[0]): void {
    const { scheduler, random } = this.job.context;
    const { retry } = this.job.spec.options;
    this.#notBefore = {
      at: scheduler.now() + retryDelayMs(again, this.#refusals, random, retry),
      why: again.why === 'rate-limited' ? 'rate-limited' : 'backoff',
    };
  }

  /** Records that the POST was provably not accepted, unless a callback contradicts that before it is durable. */
  *#unsent(event: CheckpointEvent<O>): Steps<JobEvent<O>> {
    yield awaitCheckpoint(this.job.spec.checkpoint, event);
    this.job.isUnsent = true;
    this.callbacks?.refused();
  }

  /** Ends a POST that was provably not accepted and is not tried again. */
  *#stopped(failed: Failed): Steps<JobEvent<O>> {
    yield* this.#unsent(refusedBy(failed));
    this.job.end(failed);
  }

  /** The end of a job that was cancelled before it was sent. */
  cancelled(): Failed {
    return this.#unsentFor('cancelled before it was sent', 'job-cancelled');
  }

  #unsentFor(why: string, code: FailureCode): Failed {
    const { endpoint, request } = this.job.spec;
    const known = isObservable(request) ? this.#request : request;
    return failedBefore(known === undefined ? endpoint : whatWasAsked(known), why, code);
  }

  #adviceOn({ fault }: Judged): string {
    const advice = 'it may have been accepted, so it is not sent again';
    const raise =
      'raise the timeout of /runsync (--runsync-timeout, executionTimeoutMs), or submit without waiting and poll (--mode async, run)';
    const ranOut = fault?.timedOut === true && fault.phase === 'response';
    return this.job.spec.sync && ranOut ? `${advice}; ${raise}` : advice;
  }
}

function failedBefore(what: string, why: string, code: FailureCode): Failed {
  return { status: 'failed', code, paid: failureCodes[code].paid, message: `${what}: ${why}` };
}
