import { createHmac } from 'node:crypto';
import { asyncScheduler, catchError, lastValueFrom, map, of, takeUntil, timer, type Observable } from 'rxjs';
import { retryDelayMs } from '../../../src/policy/retry-delay.js';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import {
  phaseTimeouts,
  wireHeaders,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../../src/transport/transport.js';
import type { CliIo } from '../io/cli-io.js';
import type { SignalOrder } from '../io/listen-for-stop.js';

export interface PostParts {
  /** @defaultValue one over got */
  readonly transport?: Transport;
  readonly random?: () => number;
}

const mostTries = 4;
const answerMs = 10_000;

/** Posts a JSON body, signed if there is a secret. Resolves to the problem, if any. */
export async function postEnd(
  url: string,
  body: string,
  io: Pick<CliIo, 'env' | 'scheduler'>,
  orders$: Observable<SignalOrder>,
  { transport = createGotTransport(), random = Math.random }: PostParts,
): Promise<string | undefined> {
  const scheduler = io.scheduler ?? asyncScheduler;
  const at = Math.floor(scheduler.now() / 1_000);
  const headers = {
    ...wireHeaders(undefined, true),
    ...signature(body, at, io.env['MILLRACE_NOTIFY_SECRET']),
  };
  const request: WireRequest = {
    method: 'POST' as const,
    url,
    headers,
    body,
    paid: false,
    maxReplyBytes: 64 << 10,
    timeouts: phaseTimeouts(answerMs, { requestMs: 2 * answerMs }),
  };
  try {
    for (let tries = 1; ; tries++) {
      const { problem, isFinal } = await lastValueFrom(
        transport(request).pipe(map(problemIn), catchError(unsent), takeUntil(orders$)),
        { defaultValue: interrupted },
      );
      if (problem === undefined || isFinal || tries === mostTries) return problem;
      const pause = retryDelayMs({ why: 'transient' }, tries, random);
      await lastValueFrom(timer(pause, scheduler).pipe(takeUntil(orders$)), { defaultValue: 0 });
    }
  } finally {
    transport.close?.();
  }
}

interface Answered {
  readonly problem: string | undefined;
  readonly isFinal: boolean;
}

const interrupted: Answered = { problem: 'interrupted', isFinal: true };

function unsent(error: unknown): Observable<Answered> {
  return of({ problem: (error as Error).message, isFinal: false });
}

function problemIn({ status }: WireReply): Answered {
  if (status >= 200 && status < 300) return { problem: undefined, isFinal: true };
  const mayPass = status === 408 || status === 429 || status >= 500;
  return { problem: `it answered HTTP ${status}`, isFinal: !mayPass };
}

/** Signs as is usual, with HMAC-SHA256 of the time and the body, so that an old notification cannot be replayed. */
function signature(body: string, at: number, secret: string | undefined): Record<string, string> {
  if (secret === undefined || secret === '') return {};
  const hash = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  return { 'Millrace-Signature': `t=${at},v1=${hash}` };
}
