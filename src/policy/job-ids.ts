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

/** Remembers the last `limit` ids, in memory: some 100 bytes each. @defaultValue limit 10_000 */
export function createJobIds(limit = 10_000): JobIds & { claim(answered: AnsweredId): string | undefined } {
  const owners = new Map<string, string>();
  return {
    claim({ endpoint, jobId, key }) {
      // No endpoint id holds a line break.
      const name = `${endpoint}\n${jobId}`;
      const owner = owners.get(name);
      if (owner !== undefined) return owner;
      owners.set(name, key);
      const [oldest] = owners.size > limit ? owners.keys() : [];
      if (oldest !== undefined) owners.delete(oldest);
      return undefined;
    },
  };
}

/** Why a POST whose answer names another job's id is in doubt: what it bought, if anything, is under an id that is not known. */
export function sharedIdText(jobId: string, owner: string): string {
  return `the answer names job ${JSON.stringify(jobId)}, which ${JSON.stringify(owner)} has already, so it may be the answer to another request; this one may have been accepted, so it is not sent again`;
}
