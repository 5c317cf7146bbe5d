import { askedHash } from '../request-hash.js';
import { isRead, type ManifestItem, type Row } from '../manifest-row.js';

/** Two manifests with half of their rows in common share a hash of this sample in 99 of 100 cases. */
const size = 8;
/** Rows after this many are ignored, because hashing a row takes half as long as planning it: see `sparse`. */
export const rowsSeen = 4_096;

/**
 * A sample of the first rows of a manifest: those with the smallest hashes. Manifests that share most of these rows share some
 * of the sample, whatever their order.
 */
export class RowSample {
  /** By the requests as written, because earlier versions noted nothing else, and by what is asked for. */
  readonly #samples: readonly (readonly [hashOf: HashOfRow, hashes: string[]])[];
  #seen = 0;

  /** @param hashesOf the hashes by which rows are compared. @defaultValue that of the request as written, and `askedHash` */
  constructor(hashesOf: readonly HashOfRow[] = [({ hash }) => hash, askedHash]) {
    this.#samples = hashesOf.map((hashOf) => [hashOf, []]);
  }

  /** Call this with every item, in order. */
  readonly see = ({ valid, row }: ManifestItem): void => {
    if (valid) this.add(row);
  };

  /** Call this with every valid row, in order. */
  add(row: Row): void {
    if (isRead(row) || this.#seen++ >= rowsSeen) return;
    for (const [hashOf, hashes] of this.#samples) {
      const hash = hashOf(row);
      if (hash !== undefined) note(hashes, hash);
    }
  }

  /** The different hashes: eight of each kind, or fewer if the manifest has fewer rows. */
  get hashes(): readonly string[] {
    return [...new Set(this.#samples.flatMap(([, hashes]) => hashes))];
  }
}

/** `undefined` for rows that are not in the sample. */
type HashOfRow = (row: Row) => string | undefined;

/**
 * The hash, if it is one of those that are noted wherever their rows stand, about one in 256: among some thousand rows, several have
 * one, and it is in the `RowSample` of a manifest with these rows.
 */
export function sparse(hash: string | undefined): readonly string[] {
  return hash?.startsWith('00') === true ? [hash] : [];
}

function note(hashes: string[], hash: string): void {
  const last = hashes.at(-1);
  if (last !== undefined && hashes.length === size && hash >= last) return;
  if (hashes.includes(hash)) return;
  hashes.push(hash);
  hashes.sort();
  if (hashes.length > size) hashes.pop();
}
