import type { Observable } from 'rxjs';
import type { JobReply } from '../contract/service-replies.js';

/**
 * When to ask for a job's status. All jobs of a run share one schedule. It observes every status reply and gives each job
 * an Observable of poll times, so that the reply of one job can bring the polls of another forward or put them off.
 */
export interface PollSchedule {
  /** One poll per emission. If it completes or fails before the job has ended, the job is polled every 5 s from then on. */
  pollTimes(job: PollJob): Observable<void>;
  /** Called with every status reply, the final one included. `at` in ms since the epoch. */
  observe(key: string, reply: JobReply, at: number): void;
}

/** The job that poll times are needed for. */
export interface PollJob {
  readonly key: string;
  /** In ms since the epoch, by the client's scheduler. */
  readonly submittedAt: number;
  /** Jobs of one endpoint wait for each other. @defaultValue '' */
  readonly endpoint?: string;
  /** What else decides how long a job runs, a resolution for one. @defaultValue '' */
  readonly variant?: string | undefined;
}
