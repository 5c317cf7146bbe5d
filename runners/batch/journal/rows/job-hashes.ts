import { IdHash } from '../../manifest/duplicates/id-hash.js';
import { HashIndex } from './hash-index.js';

/** Which jobs are known, by a 64-bit hash of endpoint and job id: two million take 40 MB, and no id is kept. */
export class JobHashes {
  readonly index = new HashIndex();
  readonly #jobHash = new IdHash();
  readonly #endpointHash = new IdHash();
  #endpoint: string | undefined;

  /** Takes a job in. False: it is known. */
  add(endpoint: string, jobId: string): boolean {
    return this.take(endpoint, this.#jobHash.ofText(jobId));
  }

  /** The same for an id that was hashed already. */
  take(endpoint: string, { high, low }: Pick<IdHash, 'high' | 'low'>): boolean {
    if (endpoint !== this.#endpoint) this.#endpointHash.ofText(endpoint);
    this.#endpoint = endpoint;
    const { length } = this.index;
    this.index.add({
      high: (high ^ this.#endpointHash.high) >>> 0,
      low: (low ^ this.#endpointHash.low) >>> 0,
    });
    return this.index.length > length;
  }
}
