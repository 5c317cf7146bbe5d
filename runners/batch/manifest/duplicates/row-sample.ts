import { isRead, type ManifestItem, type Row } from '../manifest-row.js';

/** Two manifests with half of their rows in common share a hash of this sample in 99 of 100 cases. */
const size = 8;
/** Rows after this many are ignored, because hashing a row takes half as long as planning it. */
const rowsSeen = 4_096;

/**
 * A sample of the first rows of a manifest: those with the smallest hashes. Manifests that share most of these rows share some
 * of the sample, whatever their order.
 */
export class RowSample {
  readonly #hashes: string[] = [];
  #seen = 0;

  /** @param hashOf the hash by which rows are compared. @defaultValue that of the request as written */
  constructor(private readonly hashOf: (row: Row) => string = ({ hash }) => hash) {}

  /** Call this with every item, in order. */
  readonly see = ({ valid, row }: ManifestItem): void => {
    if (valid) this.add(row);
  };

  /** Call this with every valid row, in order. */
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

  /** The hashes in ascending order: eight, or fewer if the manifest has fewer rows. */
  get hashes(): readonly string[] {
    return this.#hashes;
  }
}
