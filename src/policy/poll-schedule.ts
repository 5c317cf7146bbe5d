import type { Observable } from 'rxjs';
import type { JobReply } from '../contract/job-reply.js';

/**
 * When to ask for a job's status. One schedule is shared by a run: it is told of each submission and reply and hands
 * each job an Observable of poll times, so that one job's reply can wake or calm another's.
 */
export interface PollSchedule {
  /** Never completes by itself; one poll per emission. */
  pollTimes(job: PollJob): Observable<void>;
  /** Told of every status reply, the final one included. `at` in ms since the epoch. */
  observe(key: string, reply: JobReply, at: number): void;
}

/** Whose poll times are asked for. */
export interface PollJob {
  readonly key: string;
  /** In ms since the epoch, by the client's scheduler. */
  readonly submittedAt: number;
  /** Jobs of one endpoint wait for each other. @defaultValue '' */
  readonly endpoint?: string;
  /** What else decides how long a job runs, a resolution for one. @defaultValue '' */
  readonly variant?: string | undefined;
}
