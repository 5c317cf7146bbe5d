/** A job id that a POST to /run or /runsync was answered with. */
export interface AnsweredId {
  readonly endpoint: string;
  readonly jobId: string;
  /** The key of the job that sent the POST. */
  readonly key: string;
}

/**
 * Which job has which id. The service gives each POST an id of its own, so an id that came before is somebody else's
 * answer: a reply that was sent twice, or a mistake of the service or of a proxy.
 */
export interface JobIds {
  /**
   * Takes the id for the job that it was answered to. `undefined`: it was free; else the key of the job that has it, now or
   * in a while.
   */
  claim(answered: AnsweredId): string | undefined | PromiseLike<string | undefined>;
}

/** Remembers the last `limit` ids or more, at most twice as many, in memory: some 100 bytes each. @defaultValue limit 10_000 */
export function createJobIds(limit = 10_000): JobIds {
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
 * The keys of the last jobs, by endpoint and id: at least `limit`, at most twice as many. Two halves take turns: deleting
 * the oldest of one map at each id leaves holes that every search for the oldest has to pass, 6 µs a job.
 */
export class RecentJobs {
  private recent = new Map<string, string>();
  private older = new Map<string, string>();

  constructor(private readonly limit: number) {}

  ownerOf(job: Pick<AnsweredId, 'endpoint' | 'jobId'>): string | undefined {
    const name = nameOf(job);
    return this.recent.get(name) ?? this.older.get(name);
  }

  keep(job: AnsweredId): void {
    if (this.recent.size >= this.limit) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(nameOf(job), job.key);
  }
}

/** No endpoint id holds a line break. */
function nameOf({ endpoint, jobId }: Pick<AnsweredId, 'endpoint' | 'jobId'>): string {
  return `${endpoint}\n${jobId}`;
}

/** Why a POST whose answer names another job's id is in doubt: what it bought, if anything, is under an id that is not known. */
export function sharedIdText(jobId: string, owner: string): string {
  return `the answer names job ${JSON.stringify(jobId)}, which ${JSON.stringify(owner)} has already, so it may be the answer to another request; this one may have been accepted, so it is not sent again`;
}
