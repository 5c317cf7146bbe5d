import type { Observable } from 'rxjs';
import type { JobReply } from '../contract/job-reply.js';

/**
 * When to ask for a job's status. One schedule is shared by a run: it is told of each submission and reply and hands
 * each job an Observable of poll times, so that one job's reply can wake or calm another's.
 */
export interface PollSchedule {
  /** `submittedAt` in ms since the epoch, by the client's scheduler. Never completes by itself; one poll per emission. */
  pollTimes(job: { key: string; submittedAt: number }): Observable<void>;
  /** Told of every status reply, the final one included. `at` in ms since the epoch. */
  observe(key: string, reply: JobReply, at: number): void;
}
