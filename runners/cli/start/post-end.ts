import { createHmac } from 'node:crypto';
import {
  asyncScheduler,
  catchError,
  defer,
  lastValueFrom,
  map,
  of,
  retry,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs';
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
  const delay = (_: unknown, tries: number) =>
    timer(retryDelayMs({ why: 'transient' }, tries, random), scheduler);
  const posted$ = defer(() => transport(request)).pipe(
    map(problemIn),
    retry({ count: mostTries - 1, delay }),
    catchError((error: unknown) => of((error as Error).message)),
    takeUntil(orders$),
  );
  return lastValueFrom(posted$, { defaultValue: 'interrupted' }).finally(() => transport.close?.());
}

/** What is wrong with an answer, if anything. Throws it if another try may help. */
function problemIn({ status }: WireReply): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  const problem = `it answered HTTP ${status}`;
  if (status === 408 || status === 429 || status >= 500) throw new Error(problem);
  return problem;
}

/** Signs as is usual, with HMAC-SHA256 of the time and the body, so that an old notification cannot be replayed. */
function signature(body: string, at: number, secret: string | undefined): Record<string, string> {
  if (secret === undefined || secret === '') return {};
  const hash = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  return { 'Millrace-Signature': `t=${at},v1=${hash}` };
}
