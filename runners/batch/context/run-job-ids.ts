import { RecentJobs, type AnsweredId, type JobIds } from '../../../src/policy/job-ids.js';
import type { Journal } from '../journal/journal.js';
import type { JournalRecord } from '../journal/record.js';

/** Rows whose job is not in the journal yet are among so many. */
const mostRecent = 10_000;

/** Which row has which job, with those that were bought elsewhere. */
export type RowJobIds = JobIds & Pick<RunJobIds, 'keep'>;

/**
 * Which row of a run has which job, over all of its starts. All jobs are known by their hashes, the last ones by their names as well;
 * whose an earlier one is says the journal, in a pass over it.
 */
export class RunJobIds implements JobIds {
  private readonly recent = new RecentJobs(mostRecent);

  constructor(private readonly journal: Pick<Journal, 'recovered' | 'records'>) {}

  claim(answered: AnsweredId): string | undefined | Promise<string | undefined> {
    const owner = this.recent.ownerOf(answered);
    if (owner !== undefined) return owner;
    const isNew = this.journal.recovered.jobs.add(answered.endpoint, answered.jobId);
    if (!isNew) return this.find(answered);
    this.recent.keep(answered);
    return undefined;
  }

  /** A job that was bought elsewhere is asked for: no POST is answered with its id. */
  keep(job: AnsweredId): void {
    this.journal.recovered.jobs.add(job.endpoint, job.jobId);
    this.recent.keep(job);
  }

  /** Two ids may have one hash: the journal says whether a row has this one. */
  private async find(answered: AnsweredId): Promise<string | undefined> {
    const owner = await rowOfJob(this.journal, answered.jobId);
    this.recent.keep({ ...answered, key: owner ?? answered.key });
    return owner;
  }
}

/** The row of this run that a job belongs to, as the journal has it; one pass over it. A job that a person gave a row and took back is nobody's. */
export async function rowOfJob(
  journal: Pick<Journal, 'records'>,
  jobId: string,
): Promise<string | undefined> {
  let owner: string | undefined;
  for await (const record of journal.records()) {
    if (!('id' in record)) continue;
    if (owner === undefined) {
      if ('jobId' in record && record.jobId === jobId) owner = record.id;
    } else if (record.id === owner) {
      // It was sent again: what follows is said of another purchase.
      if (record.k === 'intent') return owner;
      if (isOfNoJob(record)) owner = undefined;
    }
  }
  return owner;
}

/** A request without an answer ends so, and is in doubt again once a settlement by hand is taken back. */
function isOfNoJob(record: JournalRecord): boolean {
  if (record.k !== 'outcome' || record.status !== 'failed' || record.error.code !== 'unknown') return false;
  return record.jobId === undefined && record.purchase?.jobId === undefined;
}
