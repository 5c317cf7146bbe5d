import { HashTable } from './hash-table.js';
import { IdHash } from './id-hash.js';

const derivedDigits = 12;

/** Keeps the ids of rows unique. */
export type IdKeeper = Pick<IdBook, 'claim' | 'claimJob' | 'derive'>;

/** Keeps the line of each id, and how often each request without an id occurred, in little memory. */
export class IdBook {
  readonly #lines = new HashTable();
  /** How often the request of a derived id occurred, if more than once. */
  readonly #repeats = new HashTable();
  /** Jobs that rows collect, by endpoint and id. */
  #jobs: HashTable | undefined;
  readonly #hash = new IdHash();

  /** Claims an id for a line. Returns the line that has the id already, or 0. */
  claim(id: string, line: number): number {
    const { high, low } = this.#hash.ofText(id);
    return this.#lines.claim(high, low, line);
  }

  has(id: string): boolean {
    const { high, low } = this.#hash.ofText(id);
    return this.#lines.get(high, low) !== 0;
  }

  /** Claims a job for the line that collects it. Returns the line that collects it already, or 0. */
  claimJob(endpoint: string, jobId: string, line: number): number {
    this.#jobs ??= new HashTable();
    const { high, low } = this.#hash.ofText(`${endpoint}\n${jobId}`);
    return this.#jobs.claim(high, low, line);
  }

  /**
   * Derives the id of a row that has none: the first 12 digits of its request's hash, with `-2`, `-3` … if the request is
   * repeated. `repeat` is 1 for the first.
   */
  derive(requestHash: string, line: number): { readonly id: string; readonly repeat: number } {
    const stem = requestHash.slice(0, derivedDigits);
    if (this.claim(stem, line) === 0) return { id: stem, repeat: 1 };
    const { high, low } = this.#hash.ofText(stem);
    let repeat = Math.max(this.#repeats.get(high, low), 1) + 1;
    while (this.claim(`${stem}-${repeat}`, line) !== 0) repeat++;
    this.#repeats.set(high, low, repeat);
    return { id: `${stem}-${repeat}`, repeat };
  }
}
