import { defer, EMPTY, from, map, Observable, type SchedulerLike } from 'rxjs';
import { errorText } from '../../contract/millrace-error.js';
import type { JobEvent } from '../../contract/outcome.js';
import { redact } from '../../contract/redact.js';
import type { DueQueue } from '../../policy/due-queue.js';
import type { Gate, GateAnswer, GateRequest, RequestKind } from '../../policy/gates/gate.js';
import type { JobIds } from '../../policy/job-ids.js';
import { maySendAgain, type RequestPurpose, type Verdict } from '../../policy/may-send-again.js';
import type { RetryQuota } from '../../policy/retry-quota.js';
import { readReply, type Reading } from '../../transport/read-reply.js';
import { TransportError } from '../../transport/transport-error.js';
import type { Transport, WireReply, WireRequest } from '../../transport/transport.js';
import { callHook, type AsyncScope } from '../../policy/guard-hooks.js';
import type { OpenJobs } from './open-jobs.js';
import type { JobTrace, RequestProbe, RequestReport } from './request-report.js';

/** The state that the requests of an endpoint share. Everything except endpoint, host and quota belongs to the client. */
export interface ClientContext {
  /** The empty string on a load-balanced route. */
  readonly endpointId: string;
  /** Host and port. */
  readonly host: string;
  readonly transport: Transport;
  readonly gate: Gate;
  readonly quota: RetryQuota;
  /** Absent if the number of requests is not limited. */
  readonly slots?:
    | {
        /** As `RequestSlots.of`. */
        of(kind: RequestKind, isLong: boolean): RequestSlot | undefined;
        /** As `RequestSlots.queue`. */
        queue(poll: QueuedPoll): void;
      }
    | undefined;
  readonly open: OpenJobs;
  /** Absent if there is no instrumentation. */
  readonly probe?: RequestProbe | undefined;
  readonly jobIds: JobIds;
  readonly scheduler: SchedulerLike;
  /** Deadlines by that scheduler. */
  readonly deadlines: DueQueue;
  readonly random: () => number;
  /** Texts that are masked wherever a service or a transport echoes them. */
  readonly secrets: readonly string[];
  /** Numbers of outputs that a JavaScript number cannot hold arrive as their texts. @defaultValue false */
  readonly hasExactNumbers?: boolean | undefined;
  /** The present context of asynchronous calls; absent where the platform has none. */
  readonly createScope?: (() => AsyncScope) | undefined;
}

/** A poll that waits for its slot. */
export interface QueuedPoll {
  /** Nobody waits for it any more: it is passed over. */
  readonly closed: boolean;
  /** The poll behind it in the queue; only the queue writes it. */
  behind: QueuedPoll | undefined;
  /** Called with the slot, which it has to release; with none if the number of requests is not limited. */
  slotTaken(slot: RequestSlot | undefined): void;
}

/** The slot of one request at a time, if the number of requests on the wire is limited. */
export interface RequestSlot {
  /** Calls `go` once the slot is held, synchronously if one is free. `release` leaves the queue. */
  take(go: () => void): void;
  /** Whether there is a slot, or it is held, and the gate lets the request pass, both without a wait; otherwise no slot is held. */
  passesNow(tryPass: () => boolean): boolean;
  /**
   * Completes when there is a slot and the gate lets the request pass. No slot is held while the gate makes it wait.
   * Unsubscribing before that leaves the queue.
   * @param tryPass whether the gate lets it pass now
   * @param admitted completes when the gate has let it pass
   */
  pass<T>(tryPass: () => boolean, admitted: Observable<T>): Observable<T>;
  /**
   * Sets the size of the reply, which counts until the slot is released.
   * @param isResult whether it is that of a completed job
   */
  read(bytes: number, isResult: boolean): void;
  /** Releases the slot: the request has ended or is not sent. */
  release(): void;
  /** Releases the slot of a request that was left, once everything that is left at the same moment has been left. */
  releaseLater(): void;
}

/** The polls of a job. */
export interface RunningPolls {
  /** Polls now, unless a poll is on its way. */
  poll(): void;
  /** Completes the stream although the job has not ended. */
  end(): void;
}

export interface Asking {
  /** The job or call that it belongs to. */
  readonly key: string;
  readonly purpose: RequestPurpose;
  readonly request: WireRequest;
  /** The id that the reply must echo. */
  readonly jobId?: string;
  /** Facts about the requests of its job. */
  readonly trace?: JobTrace | undefined;
}

/** The result of a request, and what it means for sending it again. */
export type Judged =
  | { readonly verdict: Verdict; readonly reading: Reading; readonly fault?: undefined }
  | { readonly verdict: Verdict; readonly fault: TransportError; readonly reading?: undefined };

/**
 * Sends one request and emits the result, once. It never errors: a transport that errors against its rules may have sent the
 * request. It replaces `take(1)`, `throwIfEmpty`, `map` and `catchError`, with which a job over undici takes a tenth more CPU.
 */
export function exchange(asking: Asking, context: ClientContext, slot?: RequestSlot): Observable<Judged> {
  return new Observable((subscriber) => {
    const { probe, scheduler } = context;
    const sentAt = probe?.requests.isObserved === true ? scheduler.now() : undefined;
    let isOver = false;
    const end = (judged: Judged, reply?: Replied) => {
      if (isOver) return;
      isOver = true;
      if (asking.trace !== undefined) {
        asking.trace.httpStatus = reply?.status;
        asking.trace.requestId = reply?.requestId;
      }
      if (sentAt !== undefined)
        probe?.requests.publish(requestReport(asking, context, { judged, reply, sentAt }));
      context.gate.observe(reportOf(asking, context, judged));
      subscriber.next(judged);
      subscriber.complete();
    };
    const fail = (error: unknown) => {
      if (isOver) return;
      const fault = asFault(error, context.secrets);
      end({ fault, verdict: maySendAgain(asking.purpose, fault) });
    };
    try {
      const sent = from(context.transport(traced(asking, context))).subscribe({
        next: (received) => {
          let judged: Judged;
          let reply: Replied;
          try {
            checkReply(received);
            judged = judge(received, asking, context);
            slot?.read(received.body.length, isResult(judged));
            reply = { status: received.status, requestId: received.headers['x-request-id'] };
          } catch (error) {
            return fail(error);
          }
          end(judged, reply);
        },
        error: fail,
        complete: () => {
          if (!isOver) fail(new Error('the transport ended without a reply'));
        },
      });
      subscriber.add(sent);
    } catch (error) {
      fail(error);
    }
  });
}

function checkReply(received: Partial<Record<keyof WireReply, unknown>> | undefined): void {
  const { status, headers, body } = received ?? {};
  const hasHeaders = typeof headers === 'object' && headers !== null;
  if (typeof status === 'number' && hasHeaders && typeof body === 'string') return;
  throw new Error('the transport gave no reply with a status as a number, headers, and a body as text');
}

/** A failure is short, whatever results are like. */
function isResult({ reading }: Judged): boolean {
  return reading !== undefined && 'job' in reading && reading.job.status === 'COMPLETED';
}

interface Replied {
  readonly status: number;
  readonly requestId: string | undefined;
}

interface Exchanged {
  readonly judged: Judged;
  readonly reply: Replied | undefined;
  readonly sentAt: number;
}

function requestReport(
  { key, purpose, request, trace }: Asking,
  { endpointId, host, scheduler, secrets }: ClientContext,
  { judged: { fault }, reply, sentAt }: Exchanged,
): RequestReport {
  const requestId = reply?.requestId;
  return {
    at: sentAt,
    durationMs: scheduler.now() - sentAt,
    endpointId,
    host,
    key,
    purpose,
    method: request.method,
    path: new URL(request.url).pathname,
    ...(trace !== undefined && { attempt: trace.attempt }),
    status: reply?.status ?? 0,
    ...(requestId !== undefined && { requestId: redact(requestId, secrets) }),
    ...(fault !== undefined && { fault: { phase: fault.phase, sent: fault.sent } }),
  };
}

const traceparentPattern = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The request, with the user's `traceparent` if there is one. */
function traced({ key, purpose, request }: Asking, { probe, endpointId, host }: ClientContext): WireRequest {
  const ask = probe?.traceparent;
  if (ask === undefined) return request;
  const traceparent = callHook(() => ask({ endpointId, host, key, purpose }));
  if (traceparent === undefined || !traceparentPattern.test(traceparent)) return request;
  return { ...request, headers: { ...request.headers, traceparent } };
}

export type WaitingEvent = Extract<JobEvent<never>, { type: 'waiting' }>;

/**
 * Waits at the gate, and for a slot if requests are limited, and emits each wait at the gate; completes when the request may be
 * sent, synchronously if no wait is needed. Unsubscribing leaves the queue.
 */
export function passGate(
  context: ClientContext,
  kind: RequestKind,
  key: string,
  slot?: RequestSlot,
): Observable<WaitingEvent> {
  const tryPass = () => context.gate.tryPass?.(visitOf(context, kind, key)) === true;
  const admitted = () => {
    const waits = context.gate.admit(visitOf(context, kind, key));
    return waits.pipe(map((wait): WaitingEvent => ({ type: 'waiting', ...wait })));
  };
  if (slot === undefined) return tryPass() ? EMPTY : admitted();
  return slot.passesNow(tryPass) ? EMPTY : slot.pass(tryPass, defer(admitted));
}

function judge(reply: WireReply, { purpose, request, jobId, trace }: Asking, context: ClientContext): Judged {
  const { scheduler, hasExactNumbers } = context;
  const secrets = trace?.secrets === undefined ? context.secrets : [...context.secrets, ...trace.secrets];
  const asked = { purpose, request, jobId, secrets, nowMs: scheduler.now(), hasExactNumbers };
  const reading = readReply(reply, asked);
  return { reading, verdict: maySendAgain(purpose, reading) };
}

export const requestKinds = {
  submit: 'submit',
  retry: 'submit',
  'route-post': 'submit',
  'route-get': 'submit',
  poll: 'poll',
  stream: 'poll',
  cancel: 'cancel',
  health: 'other',
  purge: 'other',
} as const satisfies Record<RequestPurpose, RequestKind>;

/** A request in the form that a gate takes. */
export function visitOf({ endpointId, host }: ClientContext, kind: RequestKind, key: string): GateRequest {
  return { kind, key, endpointId, host };
}

/** Failures of the function, which are answered with 5xx but do not mean that the service is in trouble. */
const answers: ReadonlySet<string> = new Set(['job-failed', 'route-failed', 'rejected', 'charged']);

function reportOf(
  { purpose, key }: Asking,
  { endpointId, host }: ClientContext,
  { verdict, reading }: Judged,
): GateAnswer {
  const kind = requestKinds[purpose];
  if (reading === undefined) return { kind, key, endpointId, host, status: 0 };
  if (verdict.verdict === 'answer' || (verdict.verdict === 'final' && answers.has(verdict.code)))
    return { kind, key, endpointId, host, status: 200 };
  // An unreadable page with status 200 is no good answer to a POST: a gate that counted it as one would admit all others.
  const status = verdict.verdict === 'ambiguous' && reading.status < 500 ? 0 : reading.status;
  const retryAfterMs = 'retryAfterMs' in reading ? reading.retryAfterMs : undefined;
  return { kind, key, endpointId, host, status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function asFault(error: unknown, secrets: readonly string[]): TransportError {
  if (error instanceof TransportError) return error;
  const message = redact(errorText(error), secrets);
  return new TransportError('send', undefined, 'maybe', false, message);
}
