import { concat, defer, EMPTY, type Observable } from 'rxjs';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { isTerminal } from '../../contract/service-replies.js';
import { inTurn } from '../in-turn.js';
import { ask } from '../requests/ask-until-answered.js';
import type { Desk } from '../requests/exchange.js';
import { outcomeOf } from '../requests/outcome-of.js';
import type { Order } from './job-spec.js';
import type { Stage, Steps } from './stage.js';

/** The job that is cancelled. */
interface Cancelled<O> {
  readonly hasEnded: boolean;
  readonly stage: Stage<O>;
  settle(outcome: Outcome<unknown>): Steps<O>;
}

/** The one /cancel of a job, and what follows from its answer. */
export class Cancellation<O> {
  private isSent = false;
  private outcome: Outcome<unknown> | undefined;

  constructor(
    private readonly order: Order<O>,
    private readonly desk: Desk,
    private readonly job: Cancelled<O>,
  ) {}

  /** Sends it, once. */
  send(jobId: string): void {
    const { order, desk } = this;
    if (order.queue === undefined || this.isSent) return;
    this.isSent = true;
    const { key } = order;
    const asking = { purpose: 'cancel', key, request: order.queue.cancel(jobId), jobId } as const;
    ask(asking, { retry: order.options.retry }, desk).subscribe({
      next: (reading) => {
        // A job that has completed meanwhile is paid, and ends by a poll, which brings its output.
        if (!('job' in reading) || !isTerminal(reading.job.status) || reading.job.status === 'COMPLETED')
          return;
        this.outcome = outcomeOf({ ...reading.job, id: jobId }, asking.request);
        this.end();
      },
      error: () => undefined,
    });
  }

  /** Where nobody is subscribed who would poll, the answer ends the job: else its price would be reserved for ever. */
  end(): void {
    const { job, outcome } = this;
    if (outcome === undefined) return;
    const settled = defer((): Observable<JobEvent<O>> => {
      if (job.hasEnded || job.stage.isWatched) return EMPTY;
      return job.stage.uninterrupted(inTurn(() => job.settle(outcome)));
    });
    concat(job.stage.scene ?? EMPTY, settled).subscribe({ error: () => undefined });
  }
}
