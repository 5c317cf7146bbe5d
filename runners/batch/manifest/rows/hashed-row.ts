import type { Row } from '../manifest-row.js';
import { imageEditDefaults } from '../../../../src/contract/image-edit.js';
import { askedHash, rowHash } from '../request-hash.js';

/** What a row has besides its hashes. */
type RowFacts = Omit<Row, 'hash' | 'alike'>;

/**
 * A row that computes its hash on first use: a plan of a million rows with ids needs none.
 *
 * @param written the request as written, with paths instead of URLs
 * @param hash set if it is known already
 */
export function hashedRow(facts: RowFacts, written: unknown, hash: string | undefined): Row {
  return Object.assign(new Hashes(facts, written, hash), facts);
}

class Hashes {
  readonly #row: RowFacts;
  readonly #written: unknown;
  #hash: string | undefined;
  #alike: readonly string[] | undefined;

  constructor(row: RowFacts, written: unknown, hash: string | undefined) {
    this.#row = row;
    this.#written = written;
    this.#hash = hash;
  }

  get hash(): string {
    return (this.#hash ??= rowHash(this.#row, this.#written));
  }

  get alike(): readonly string[] {
    return (this.#alike ??= this.#hashesAlike());
  }

  #hashesAlike(): readonly string[] {
    const { hash } = this;
    const { kind, endpoint, columns, request } = this.#row;
    const asked = askedHash({ kind, endpoint, columns, request, hash });
    if (kind !== 'edit') return asked === hash ? [] : [asked];
    const { input } = this.#written as { readonly input: EditInput };
    const hashes = otherWays(input).map((way) => rowHash(this.#row, { input: way, kind }));
    return asked === hash || hashes.includes(asked) ? hashes : [...hashes, asked];
  }
}

type EditInput = Readonly<Record<string, unknown>>;

/** The same input with default values left out or written out: a journal of 0.1.0 knows a request only as it was written. */
function otherWays(input: EditInput): EditInput[] {
  let ways = [input];
  for (const [field, value] of Object.entries(imageEditDefaults)) {
    const written = input[field];
    if (written !== undefined && written !== value) continue;
    ways = ways.flatMap((way) => [way, { ...way, [field]: written === undefined ? value : undefined }]);
  }
  return ways.slice(1);
}
