import { NumberList } from './number-list.js';

export type RowFile = 'results.jsonl' | 'failures.jsonl';

/** Where the line of a row stands, and what kind of row it is. */
export interface RowPlace {
  readonly row: number;
  readonly file: RowFile;
  readonly offset: number;
  readonly length: number;
  /** Index into the causes, from 1; 0: completed. */
  readonly cause: number;
  /** Earlier pictures stand behind it. */
  readonly again: boolean;
  /** A picture of it lies in the run's folder. */
  readonly isSaved: boolean;
  /** Pictures that it was given may be files of this machine. */
  readonly namesFiles: boolean;
  /** Where in the line these pictures stand. A length of 0: that is not known. */
  readonly images: { readonly at: number; readonly length: number };
  /** When it ended, in ms since the epoch; 0: unknown. */
  readonly at: number;
}

const bits = { failure: 1, again: 2, saved: 4, files: 8 } as const;

/** The places of all rows that ended, each made when it is asked for: a million are kept in 39 MB. */
export class RowPlaces {
  private readonly rows = new NumberList();
  private readonly offsets = new NumberList();
  private readonly lengths = new NumberList(Uint32Array);
  private readonly causes = new NumberList(Uint16Array);
  private readonly flags = new NumberList(Uint8Array);
  private readonly imagesAt = new NumberList(Uint32Array);
  private readonly imagesLengths = new NumberList(Uint32Array);
  private readonly ends = new NumberList();
  private order: Uint32Array | undefined;
  private causeOf: ReadonlyMap<number, number> = new Map();

  get length(): number {
    return this.rows.length;
  }

  add({ row, file, offset, length, cause, again, isSaved, namesFiles, images, at }: RowPlace): void {
    this.rows.push(row);
    this.offsets.push(offset);
    this.lengths.push(length);
    this.causes.push(cause);
    this.flags.push(
      (file === 'failures.jsonl' ? bits.failure : 0) |
        (again ? bits.again : 0) |
        (isSaved ? bits.saved : 0) |
        (namesFiles ? bits.files : 0),
    );
    this.imagesAt.push(images.at);
    this.imagesLengths.push(images.length);
    this.ends.push(at);
  }

  /** From now on they stand in the order of the manifest, and causes have the numbers that the map gives. */
  arrange(causeOf: ReadonlyMap<number, number>): this {
    this.order = this.rows.ranked();
    this.causeOf = causeOf;
    return this;
  }

  at(index: number): RowPlace {
    const place = this.placeOf(index);
    const flags = this.flags.at(place);
    return {
      row: this.rows.at(place),
      file: (flags & bits.failure) === 0 ? 'results.jsonl' : 'failures.jsonl',
      offset: this.offsets.at(place),
      length: this.lengths.at(place),
      cause: this.causeAt(place),
      again: (flags & bits.again) !== 0,
      isSaved: (flags & bits.saved) !== 0,
      namesFiles: (flags & bits.files) !== 0,
      images: { at: this.imagesAt.at(place), length: this.imagesLengths.at(place) },
      at: this.ends.at(place),
    };
  }

  slice(from: number, to: number): RowPlace[] {
    const count = Math.max(Math.min(to, this.length) - from, 0);
    return Array.from({ length: count }, (_, index) => this.at(from + index));
  }

  /** The numbers of the rows, in the order of the manifest. */
  *numbers(): Generator<number, void, void> {
    for (let index = 0; index < this.length; index++) yield this.rows.at(this.placeOf(index));
  }

  /** The cause of each row's end, and whether earlier pictures stand behind it: a million objects are not made for them. */
  eachClass(take: (cause: number, again: boolean) => void): void {
    for (let index = 0; index < this.length; index++) {
      const place = this.placeOf(index);
      take(this.causeAt(place), (this.flags.at(place) & bits.again) !== 0);
    }
  }

  /** When each row ended, and the cause of its end, in the order of the manifest: a million are asked for three times by charts. */
  eachEnd(take: (at: number, cause: number) => void): void {
    for (let index = 0; index < this.length; index++) {
      const place = this.placeOf(index);
      take(this.ends.at(place), this.causeAt(place));
    }
  }

  /** When rows ended, in ms since the epoch, in no order; those that do not say are left out. */
  get endTimes(): Iterable<number> {
    const { ends } = this;
    return {
      *[Symbol.iterator]() {
        for (const at of ends) if (at > 0) yield at;
      },
    };
  }

  /** Indices of the rows that ended last, the newest first. */
  latest(most: number): number[] {
    const times = new NumberList();
    for (let index = 0; index < this.length; index++) times.push(this.ends.at(this.placeOf(index)));
    return [...times.ranked().subarray(-most)].reverse();
  }

  /** Nearly all rows have none. */
  private causeAt(place: number): number {
    const cause = this.causes.at(place);
    return cause === 0 ? 0 : (this.causeOf.get(cause) ?? cause);
  }

  private placeOf(index: number): number {
    return this.order?.[index] ?? index;
  }
}
