import { map, type Observable } from 'rxjs';
import type { Failed } from '../../contract/outcome.js';
import type { JobReply } from '../../contract/service-replies.js';
import type { BackoffLimits } from '../../policy/retry-delay.js';
import { isGone } from '../../policy/may-send-again.js';
import type { WireRequest } from '../../transport/transport.js';
import { askUntilAnswered } from './ask-until-answered.js';
import type { ClientContext, Judged, WaitingEvent } from './exchange.js';
import { failureOf } from './outcome-of.js';
import type { JobTrace } from './request-report.js';

export interface PollQuestion {
  readonly key: string;
  readonly jobId: string;
  /** In ms since the epoch; a job of unknown age counts as a young one. */
  readonly submittedAt?: number;
  /** It was given up before: the first 404 is believed. */
  readonly wasExpired?: boolean;
  /** GET of the job's status. */
  readonly request: WireRequest;
  readonly backoff: BackoffLimits;
  readonly trace?: JobTrace | undefined;
  /** Called for each request that is sent. */
  readonly onCall: () => void;
}

export type Polled =
  | WaitingEvent
  | { readonly type: 'replied'; readonly job: JobReply }
  | { readonly type: 'ended'; readonly outcome: Failed };

/** Extra tries with a key that is refused while jobs run: it may be a passing fault of the service. */
const keyRetries = 3;

/**
 * One poll: asks until there is a reply of this job. `ended`: the service no longer knows it (a 404 that `isGone` believes), refuses
 * the key time and again, or fails TLS verification or redirects elsewhere; the job may have been paid. For one subscription.
 */
export function pollOnce(question: PollQuestion, context: ClientContext): Observable<Polled> {
  const { jobId, request, key, backoff, onCall, trace } = question;
  let keyRefusals = 0;
  const isGivenUp = missing(question, context);
  const mayAskAgain = ({ verdict }: Judged) => {
    if (verdict.verdict !== 'final') return true;
    if (verdict.code === 'expired') return !isGivenUp();
    return verdict.code === 'unauthorized' && ++keyRefusals <= keyRetries;
  };
  const asking = { purpose: 'poll', request, jobId, key, backoff, trace, onCall, mayAskAgain } as const;
  return askUntilAnswered(asking, context).pipe(
    map((step) => (step.type === 'waiting' ? step : polled(step.judged, question))),
  );
}

function polled(judged: Judged, { jobId, request }: PollQuestion): Polled {
  const { verdict, reading } = judged;
  if (reading !== undefined && 'job' in reading)
    return { type: 'replied', job: { ...reading.job, id: jobId } };
  const code = verdict.verdict === 'final' ? verdict.code : 'expired';
  return { type: 'ended', outcome: failureOf(code, judged, { request, jobId, paid: 'maybe' }) };
}

/** Counts each 404, and reports whether the job is given up. */
function missing({ submittedAt, wasExpired }: PollQuestion, { scheduler }: ClientContext): () => boolean {
  let since: number | undefined;
  let answers = 0;
  return () => {
    const now = scheduler.now();
    since ??= now;
    answers += 1;
    return (
      wasExpired === true || isGone({ ageMs: since - (submittedAt ?? since), forMs: now - since, answers })
    );
  };
}
