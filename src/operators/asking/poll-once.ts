import type { Observable } from 'rxjs';
import type { JobReply } from '../../contract/job-reply.js';
import type { Failed } from '../../contract/outcome.js';
import type { BackoffLimits } from '../../policy/backoff.js';
import type { WireRequest } from '../../transport/transport.js';
import { inTurn, type Step } from '../in-turn.js';
import { asked } from './ask-until-answered.js';
import type { Desk, Judged } from './exchange.js';
import { failureOf } from './failure-of.js';
import type { WaitingEvent } from './through-gate.js';

export interface PollQuestion {
  readonly key: string;
  readonly jobId: string;
  /** GET of the job's status. */
  readonly request: WireRequest;
  readonly backoff: BackoffLimits;
  /** Called for each request that is sent. */
  readonly onCall: () => void;
}

export type Polled =
  | WaitingEvent
  | { readonly type: 'replied'; readonly job: JobReply }
  | { readonly type: 'ended'; readonly outcome: Failed };

/** A key that is refused while jobs are out may be a hiccup of the service: so many extra tries. */
const keyRetries = 3;

/**
 * One poll: asks until there is a reply of this job. `ended`: the service no longer knows it (404), refuses the key time
 * and again, or is not whom it should be; the job may have been paid.
 */
export function pollOnce(question: PollQuestion, desk: Desk): Observable<Polled> {
  return inTurn(() => poll(question, desk));
}

function* poll(question: PollQuestion, desk: Desk): Iterable<Step<Polled>> {
  const { jobId, request, key, backoff, onCall } = question;
  let keyRefusals = 0;
  const mayAskAgain = ({ verdict }: Judged) =>
    verdict.verdict !== 'final' || (verdict.code === 'unauthorized' && ++keyRefusals <= keyRetries);
  const judged = yield* asked({ purpose: 'poll', request, jobId, key, backoff, onCall, mayAskAgain }, desk);
  const { verdict, reading } = judged;
  if (reading !== undefined && 'job' in reading) {
    yield { type: 'replied', job: { ...reading.job, id: jobId } };
    return;
  }
  const code = verdict.verdict === 'final' ? verdict.code : 'expired';
  yield { type: 'ended', outcome: failureOf(code, judged, { request, jobId, paid: 'maybe' }) };
}
