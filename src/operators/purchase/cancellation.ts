import type { Outcome } from '../../contract/outcome.js';
import { isTerminal } from '../../contract/service-replies.js';
import { ask } from '../requests/ask-until-answered.js';
import type { ClientContext } from '../requests/exchange.js';
import { outcomeOf } from '../requests/outcome-of.js';
import type { JobSpec } from './job-spec.js';

/** The one /cancel of a job. */
export class Cancellation {
  private isSent = false;
  /** What the service answered, where that was an end of the job. */
  outcome: Outcome<unknown> | undefined;

  /** @param ended called when the answer was an end of the job */
  constructor(
    private readonly spec: Pick<JobSpec<unknown>, 'key' | 'queue' | 'options'>,
    private readonly context: ClientContext,
    private readonly ended: () => void,
  ) {}

  /** Sends it, once. */
  send(jobId: string): void {
    const { spec, context } = this;
    if (spec.queue === undefined || this.isSent) return;
    this.isSent = true;
    const asking = { purpose: 'cancel', key: spec.key, request: spec.queue.cancel(jobId), jobId } as const;
    ask(asking, { retry: spec.options.retry }, context).subscribe({
      next: (reading) => {
        // A job that has completed meanwhile is paid, and ends by a poll, which brings its output.
        if (!('job' in reading) || !isTerminal(reading.job.status) || reading.job.status === 'COMPLETED')
          return;
        this.outcome = outcomeOf({ ...reading.job, id: jobId }, asking.request);
        this.ended();
      },
      error: () => undefined,
    });
  }
}
