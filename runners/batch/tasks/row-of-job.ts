import type { Journal } from '../journal/journal.js';

/** The row of this run that a job belongs to, as the journal has it; one pass over it. */
export async function rowOfJob(
  journal: Pick<Journal, 'records'>,
  jobId: string,
): Promise<string | undefined> {
  for await (const record of journal.records())
    if ('jobId' in record && record.jobId === jobId) return record.id;
  return undefined;
}
