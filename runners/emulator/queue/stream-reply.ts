import type { Clock } from '../clock.js';
import { type Answer, jsonAnswer } from '../http/answer.js';
import { type Job, hasEnded } from './job.js';
import { waitForJob } from './wait-for-job.js';

/** How long /stream holds a request while there is nothing to tell, in ms. */
export const streamHoldMs = 1_000;

/** The chunks since the last such answer, each delivered once. */
export async function streamReply(job: Job, clock: Clock): Promise<Answer> {
  await waitForJob(job, clock, streamHoldMs, () => job.chunks.length > 0 || hasEnded(job));
  const chunks = job.chunks.map((chunk) => `{"output":${chunk}}`).join(',');
  job.chunks = [];
  return jsonAnswer(`{"status":"${job.status}","stream":[${chunks}]}`);
}
