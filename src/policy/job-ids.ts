import { from, of, type Observable } from 'rxjs';
import { checkNumber } from '../contract/check-option.js';

/** A job id from the answer to a POST to /run or /runsync. */
export interface AnsweredId {
  readonly endpoint: string;
  readonly jobId: string;
  /** The key of the job that sent the POST. */
  readonly key: string;
}

/**
 * Records which job has which id. The service gives each POST a new id, so an answer with a known id belongs to another job: a
 * reply was sent twice, or the service or a proxy made a mistake.
 */
export interface JobIds {
  /**
   * Claims the id for the job whose POST was answered with it. Returns `undefined` if it was free, or the key of the job that
   * has it, at once or as a promise. An error of it errors the job, whose `jobId` is known.
   */
  claim(answered: AnsweredId): string | undefined | PromiseLike<string | undefined>;
}

/** Emits the result of a claim, at once if it is known. */
export function ownerOf(claimed: ReturnType<JobIds['claim']>): Observable<string | undefined> {
  return typeof claimed === 'object' ? from(claimed) : of(claimed);
}

/**
 * Remembers at least the last `limit` ids in memory, and at most twice as many; each takes about 100 bytes.
 * @defaultValue limit 10_000
 */
export function createJobIds(limit = 10_000): JobIds {
  checkNumber('limit', limit, 'number from 0 on');
  const recent = new RecentJobs(limit);
  return {
    claim(answered) {
      const owner = recent.ownerOf(answered);
      if (owner === undefined) recent.keep(answered);
      return owner;
    },
  };
}

/**
 * The keys of the last jobs, by endpoint and id: at least `limit`, at most twice as many. It uses two maps: deleting the oldest
 * entry of one map for each new id would leave holes that slow down finding the oldest, by 6 µs per job.
 */
export class RecentJobs {
  /** By endpoint, then by id: a name of both for each job would take 56 bytes more. */
  #recent = new Map<string, Map<string, string>>();
  #older = this.#recent;
  #kept = 0;

  constructor(private readonly limit: number) {}

  ownerOf({ endpoint, jobId }: Pick<AnsweredId, 'endpoint' | 'jobId'>): string | undefined {
    return this.#recent.get(endpoint)?.get(jobId) ?? this.#older.get(endpoint)?.get(jobId);
  }

  keep({ endpoint, jobId, key }: AnsweredId): void {
    if (this.#kept >= this.limit) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#kept = 0;
    }
    const ids = this.#recent.get(endpoint) ?? new Map<string, string>();
    this.#recent.set(endpoint, ids);
    if (!ids.has(jobId)) this.#kept += 1;
    ids.set(jobId, key);
  }
}

/** The message for a POST whose answer names another job's id: what it bought, if anything, has an unknown id. */
export function sharedIdText(jobId: string, owner: string): string {
  return `the answer names job ${JSON.stringify(jobId)}, which ${JSON.stringify(owner)} has already, so it may be the answer to another request; this one may have been accepted, so it is not sent again`;
}
