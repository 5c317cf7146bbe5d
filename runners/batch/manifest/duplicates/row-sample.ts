import { isRead, type ManifestItem, type Row } from '../manifest-row.js';

/** Two manifests of which a half is the same share one of them in 99 of 100 cases. */
const size = 8;
/** A hash takes as long as half of a row in a plan, so the rest of a longer manifest is not looked at. */
const rowsSeen = 4_096;

/**
 * Of the first rows of a manifest those with the smallest hashes: manifests that share most of these rows share some of the sample, in
 * whatever order they stand.
 */
export class RowSample {
  readonly #hashes: string[] = [];
  #seen = 0;

  /** @param hashOf what rows are compared by. @defaultValue what they ask for, as it is written */
  constructor(private readonly hashOf: (row: Row) => string = ({ hash }) => hash) {}

  /** Takes in every item, in order, as a plan sees it. */
  readonly see = ({ valid, row }: ManifestItem): void => {
    if (valid) this.add(row);
  };

  /** Takes in every valid row, in order. */
  add(row: Row): void {
    if (isRead(row) || this.#seen++ >= rowsSeen) return;
    const hash = this.hashOf(row);
    const last = this.#hashes.at(-1);
    if (last !== undefined && this.#hashes.length === size && hash >= last) return;
    if (this.#hashes.includes(hash)) return;
    this.#hashes.push(hash);
    this.#hashes.sort();
    if (this.#hashes.length > size) this.#hashes.pop();
  }

  /** In ascending order; fewer than eight only where the manifest has fewer. */
  get hashes(): readonly string[] {
    return this.#hashes;
  }
}
