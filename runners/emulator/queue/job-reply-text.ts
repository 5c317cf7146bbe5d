import { type Job, hasEnded } from './job.js';

/** The job as /status and /runsync show it. (spec 2.1, 2.6) */
export function jobReplyText(job: Job): string {
  const fields = [`"id":${JSON.stringify(job.id)}`, `"status":"${job.status}"`];
  if (job.startedAt !== undefined) fields.push(`"delayTime":${job.startedAt - job.submittedAt}`);
  if (job.startedAt !== undefined && hasEnded(job) && job.endedAt !== undefined)
    fields.push(`"executionTime":${job.endedAt - job.startedAt}`);
  if (job.output !== undefined) fields.push(`"output":${job.output}`);
  if (job.error !== undefined) fields.push(`"error":${JSON.stringify(job.error)}`);
  if (job.workerId !== undefined) fields.push(`"workerId":"${job.workerId}"`);
  return `{${fields.join(',')}}`;
}
