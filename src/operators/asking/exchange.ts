import {
  catchError,
  defer,
  map,
  of,
  take,
  tap,
  throwIfEmpty,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import { redact } from '../../contract/redact.js';
import type { Gate, RequestKind } from '../../policy/gate.js';
import { maySendAgain, type RequestPurpose, type Verdict } from '../../policy/may-send-again.js';
import type { RetryQuota } from '../../policy/retry-quota.js';
import { readReply, type Reading } from '../../transport/read-reply.js';
import { TransportError } from '../../transport/transport-error.js';
import type { Transport, WireRequest } from '../../transport/transport.js';

/** What all requests of a client share. */
export interface Desk {
  readonly transport: Transport;
  readonly gate: Gate;
  readonly quota: RetryQuota;
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  /** Masked wherever a service or a transport echoes them. */
  readonly secrets: readonly string[];
}

export interface Asking {
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
  const { purpose, request, jobId } = asking;
  return defer(() => desk.transport(request)).pipe(
    take(1),
    throwIfEmpty(() => new Error('the transport ended without a reply')),
    map((reply): Judged => {
      const reading = readReply(reply, {
        purpose,
        request,
        jobId,
        secrets: desk.secrets,
        nowMs: desk.scheduler.now(),
      });
      return { reading, verdict: maySendAgain(purpose, reading) };
    }),
    catchError((error: unknown) => {
      const fault = asFault(error, desk.secrets);
      return of<Judged>({ fault, verdict: maySendAgain(purpose, fault) });
    }),
    tap((judged) => desk.gate.observe(reportOf(purpose, judged))),
  );
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

/** A function that fails answers with 5xx and is no sign of a service in trouble. */
const answers: ReadonlySet<string> = new Set(['job-failed', 'route-failed', 'rejected']);

function reportOf(purpose: RequestPurpose, { verdict, reading }: Judged): Parameters<Gate['observe']>[0] {
  const kind = requestKinds[purpose];
  if (reading === undefined) return { kind, status: 0 };
  if (verdict.verdict === 'answer' || (verdict.verdict === 'final' && answers.has(verdict.code)))
    return { kind, status: 200 };
  const retryAfterMs = 'retryAfterMs' in reading ? reading.retryAfterMs : undefined;
  return { kind, status: reading.status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function asFault(error: unknown, secrets: readonly string[]): TransportError {
  if (error instanceof TransportError) return error;
  const message = redact(error instanceof Error ? error.message : String(error), secrets);
  return new TransportError('send', undefined, 'maybe', false, message);
}
