import { concat, concatMap, of, take, type Observable } from 'rxjs';
import type { Failed } from '../../contract/outcome.js';
import { isTerminal } from '../../contract/service-replies.js';
import type { Desk } from '../requests/exchange.js';
import { outcomeOf, whatWasAsked } from '../requests/outcome-of.js';
import { pollOnce } from '../requests/poll-once.js';
import { pollUntilTerminal, type PollStep, type PollTask } from '../requests/poll-until-terminal.js';

export interface Due {
  /** In ms since the epoch, by the scheduler. */
  readonly at: number;
  /** What was asked for, in ms: for the message. */
  readonly deadlineMs: number;
}

/**
 * Polls until the job has ended or the deadline has come; then the job may still run. A job that was not asked for once
 * by then is, all the same: it may have ended long ago.
 */
export function pollToDeadline(task: PollTask, due: Due, desk: Desk): Observable<PollStep> {
  let wasAsked = false;
  const onCall = () => {
    wasAsked = true;
    task.onCall();
  };
  const otherwise = () => {
    const givenUp = of<PollStep>({ type: 'ended', outcome: overdue(task, due) });
    return wasAsked ? givenUp : concat(lastLook(task, desk), givenUp).pipe(take(1));
  };
  return pollUntilTerminal({ ...task, onCall }, desk, { at: due.at, otherwise });
}

function lastLook(task: PollTask, desk: Desk): Observable<PollStep> {
  return pollOnce(task, desk).pipe(
    take(1),
    concatMap((polled): PollStep[] => {
      if (polled.type === 'ended') return [polled];
      if (polled.type === 'waiting' || !isTerminal(polled.job.status)) return [];
      return [{ type: 'ended', outcome: outcomeOf(polled.job, task.request) }];
    }),
  );
}

/** The failure of a job that has not ended by its deadline. */
export function overdue(
  { jobId, request }: { readonly jobId: string; readonly request: Parameters<typeof whatWasAsked>[0] },
  { deadlineMs }: Pick<Due, 'deadlineMs'>,
): Failed {
  const message = `${whatWasAsked(request)}: no end within ${deadlineMs} ms; the job may still run`;
  return { status: 'failed', code: 'deadline', paid: 'maybe', jobId, message };
}
