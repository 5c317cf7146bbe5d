import type { Clock } from '../clock.js';
import type { Job } from './job.js';

/** Resolves when the condition holds, and after so many ms at the latest. */
export function waitForJob(job: Job, clock: Clock, ms: number, isReady: () => boolean): Promise<void> {
  if (ms <= 0 || isReady()) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      job.watchers.delete(look);
      resolve();
    };
    const look = (): void => {
      if (isReady()) done();
    };
    const cancel = clock.after(ms, done);
    job.watchers.add(look);
  });
}
