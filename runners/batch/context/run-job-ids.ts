import { RecentJobs, type AnsweredId, type JobIds } from '../../../src/policy/job-ids.js';
import type { Journal } from '../journal/journal.js';
import type { JournalRecord } from '../journal/record.js';

/** This many latest rows include all whose job is not in the journal yet. */
const mostRecent = 10_000;

/** The row of each job, including jobs that were bought elsewhere. */
export type RowJobIds = JobIds & Pick<RunJobIds, 'keep'>;

/**
 * The row of each job, over all starts of a run. All job ids are kept as hashes, and the latest ones in full; the row
 * of an earlier one is found in the journal, in a pass over it.
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

  /** Registers a job that was bought elsewhere and is polled here: no POST of this run may be answered with its id. */
  keep(job: AnsweredId): void {
    this.journal.recovered.jobs.add(job.endpoint, job.jobId);
    this.recent.keep(job);
  }

  /** Two ids may have the same hash, so the journal is searched for the real owner. */
  private async find(answered: AnsweredId): Promise<string | undefined> {
    const { jobId } = answered;
    const owner = (await rowsOfJobs(this.journal, [jobId])).get(jobId);
    this.recent.keep({ ...answered, key: owner ?? answered.key });
    return owner;
  }
}

/**
 * The rows of this run that jobs belong to according to the journal, in one pass over it. A job that a person assigned to a row
 * and took back belongs to no row, and is not in the map.
 */
export async function rowsOfJobs(
  journal: Pick<Journal, 'records'>,
  jobIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(jobIds);
  const owners = new Map<string, string>();
  /** By row, those of its jobs that a person may still take back. */
  const recent = new Map<string, Set<string>>();
  if (wanted.size === 0) return owners;
  for await (const record of journal.records()) {
    if (!('id' in record)) continue;
    const { id } = record;
    // The row was sent again: the records that follow are about another purchase.
    if (record.k === 'intent') recent.delete(id);
    if (isOfNoJob(record)) {
      for (const jobId of recent.get(id) ?? []) owners.delete(jobId);
      recent.delete(id);
    }
    const jobId = 'jobId' in record ? record.jobId : undefined;
    if (jobId === undefined || !wanted.has(jobId) || owners.has(jobId)) continue;
    owners.set(jobId, id);
    recent.set(id, (recent.get(id) ?? new Set<string>()).add(jobId));
  }
  return owners;
}

/** A request without an answer ends like this, and the row becomes unknown again when a settlement by hand is undone. */
function isOfNoJob(record: JournalRecord): boolean {
  if (record.k !== 'outcome' || record.status !== 'failed' || record.error.code !== 'unknown') return false;
  return record.jobId === undefined && record.purchase?.jobId === undefined;
}
