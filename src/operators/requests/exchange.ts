import type { Observable, SchedulerLike } from 'rxjs';
import { redact } from '../../contract/redact.js';
import type { Gate, GateAnswer, GateRequest, RequestKind } from '../../policy/gates/gate.js';
import type { JobIds } from '../../policy/job-ids.js';
import { maySendAgain, type RequestPurpose, type Verdict } from '../../policy/may-send-again.js';
import type { RetryQuota } from '../../policy/retry-quota.js';
import { readReply, type Reading } from '../../transport/read-reply.js';
import { TransportError } from '../../transport/transport-error.js';
import type { Transport, WireReply, WireRequest } from '../../transport/transport.js';
import { Heard, inTurn, type Step } from '../in-turn.js';
import type { Agenda } from '../timers/agenda.js';

/** What all requests of an endpoint share; all but endpoint, host and quota is the client's. */
export interface Desk {
  /** The empty string on a load-balanced route. */
  readonly endpointId: string;
  /** Host and port. */
  readonly host: string;
  readonly transport: Transport;
  readonly gate: Gate;
  readonly quota: RetryQuota;
  /** Which job has which id. */
  readonly jobIds: JobIds;
  readonly scheduler: SchedulerLike;
  /** By that scheduler. */
  readonly deadlines: Agenda;
  readonly random: () => number;
  /** Masked wherever a service or a transport echoes them. */
  readonly secrets: readonly string[];
}

export interface Asking {
  /** The job or call that it belongs to. */
  readonly key: string;
  readonly purpose: RequestPurpose;
  readonly request: WireRequest;
  /** The id that the reply must echo. */
  readonly jobId?: string;
}

/** What came back, and what it means for sending again. */
export type Judged =
  | { readonly verdict: Verdict; readonly reading: Reading; readonly fault?: undefined }
  | { readonly verdict: Verdict; readonly fault: TransportError; readonly reading?: undefined };

/** One request and what came of it. One value; never errors: a transport that breaks its own rules leaves a doubt. */
export function exchange(asking: Asking, desk: Desk): Observable<Judged> {
  return inTurn(() => exchanged(asking, desk));
}

function* exchanged(asking: Asking, desk: Desk): Iterable<Step<Judged>> {
  const talk = new Exchange(asking, desk);
  yield talk;
  yield talk.result();
}

/** The same as a step of a flow: every request pays for each stream of its own. */
export class Exchange extends Heard<never> {
  private known: Judged | undefined;

  constructor(
    private readonly asking: Asking,
    private readonly desk: Desk,
  ) {
    super();
  }

  get source(): Observable<WireReply> {
    return this.desk.transport(this.asking.request);
  }

  override get isOver(): boolean {
    return this.known !== undefined;
  }

  /** What came of it, once it is over. */
  result(): Judged {
    return this.known ?? this.failed(new Error('the transport ended without a reply'));
  }

  hear(reply: WireReply): undefined {
    if (this.known === undefined) this.conclude(judge(reply, this.asking, this.desk));
  }

  override takesError(error: unknown): boolean {
    this.failed(error);
    return true;
  }

  private failed(error: unknown): Judged {
    return this.conclude(faulted(error, this.asking, this.desk));
  }

  private conclude(judged: Judged): Judged {
    this.known = judged;
    this.desk.gate.observe(reportOf(this.asking, this.desk, judged));
    return judged;
  }
}

function judge(reply: WireReply, asking: Asking, desk: Desk): Judged {
  const { purpose, request, jobId } = asking;
  const { secrets, scheduler } = desk;
  try {
    const reading = readReply(reply, { purpose, request, jobId, secrets, nowMs: scheduler.now() });
    return { reading, verdict: maySendAgain(purpose, reading) };
  } catch (error) {
    return faulted(error, asking, desk);
  }
}

function faulted(error: unknown, { purpose }: Asking, { secrets }: Desk): Judged {
  const fault = asFault(error, secrets);
  return { fault, verdict: maySendAgain(purpose, fault) };
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

/** A request as a gate is asked for it. */
export function visitOf({ endpointId, host }: Desk, kind: RequestKind, key: string): GateRequest {
  return { kind, key, endpointId, host };
}

/** A function that fails answers with 5xx and is no sign of a service in trouble. */
const answers: ReadonlySet<string> = new Set(['job-failed', 'route-failed', 'rejected', 'charged']);

function reportOf(
  { purpose, key }: Asking,
  { endpointId, host }: Desk,
  { verdict, reading }: Judged,
): GateAnswer {
  const kind = requestKinds[purpose];
  if (reading === undefined) return { kind, key, endpointId, host, status: 0 };
  if (verdict.verdict === 'answer' || (verdict.verdict === 'final' && answers.has(verdict.code)))
    return { kind, key, endpointId, host, status: 200 };
  const { status } = reading;
  const retryAfterMs = 'retryAfterMs' in reading ? reading.retryAfterMs : undefined;
  return { kind, key, endpointId, host, status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function asFault(error: unknown, secrets: readonly string[]): TransportError {
  if (error instanceof TransportError) return error;
  const message = redact(error instanceof Error ? error.message : String(error), secrets);
  return new TransportError('send', undefined, 'maybe', false, message);
}
