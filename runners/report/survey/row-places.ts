import { NumberList } from './number-list.js';

/** The position of a row's line, and facts about the row. */
export interface RowPlace {
  readonly row: number;
  readonly file: 'results.jsonl' | 'failures.jsonl';
  readonly offset: number;
  readonly length: number;
  /** Index into the causes, from 1; 0 if completed. */
  readonly cause: number;
  /** Whether there are earlier pictures. */
  readonly again: boolean;
  /** Whether the row is to be done again: this is its result until then. */
  readonly toGo: boolean;
  /** Whether a picture of it is in the run's folder. */
  readonly isSaved: boolean;
  /** Whether its references may be files of this machine. */
  readonly namesFiles: boolean;
  /** When it ended, in ms since the epoch; 0 if unknown. */
  readonly at: number;
}

const bits = { failure: 1, again: 2, saved: 4, files: 8, toGo: 16 } as const;

/** The places of all ended rows, created on request: a million take 31 MB. */
export class RowPlaces {
  private readonly rows = new NumberList();
  private readonly offsets = new NumberList();
  private readonly lengths = new NumberList(Uint32Array);
  private readonly causes = new NumberList(Uint16Array);
  private readonly flags = new NumberList(Uint8Array);
  private readonly ends = new NumberList();
  private order: Uint32Array | undefined;
  private causeOf: ReadonlyMap<number, number> = new Map();

  get length(): number {
    return this.rows.length;
  }

  add({ row, file, offset, length, cause, again, toGo, isSaved, namesFiles, at }: RowPlace): void {
    this.rows.push(row);
    this.offsets.push(offset);
    this.lengths.push(length);
    this.causes.push(cause);
    this.flags.push(
      (file === 'failures.jsonl' ? bits.failure : 0) |
        (again ? bits.again : 0) |
        (toGo ? bits.toGo : 0) |
        (isSaved ? bits.saved : 0) |
        (namesFiles ? bits.files : 0),
    );
    this.ends.push(at);
  }

  /** Sorts the rows into the order of the manifest, and renumbers their causes by the map. */
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
      toGo: (flags & bits.toGo) !== 0,
      isSaved: (flags & bits.saved) !== 0,
      namesFiles: (flags & bits.files) !== 0,
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

  /** Calls back with the cause of each row's end, whether it has earlier pictures, and whether it is to go, without creating objects. */
  eachClass(take: (cause: number, again: boolean, toGo: boolean) => void): void {
    for (let index = 0; index < this.length; index++) {
      const place = this.placeOf(index);
      const flags = this.flags.at(place);
      take(this.causeAt(place), (flags & bits.again) !== 0, (flags & bits.toGo) !== 0);
    }
  }

  /** Calls back with each row's end time and cause, in the order of the manifest, without creating objects. */
  eachEnd(take: (at: number, cause: number) => void): void {
    for (let index = 0; index < this.length; index++) {
      const place = this.placeOf(index);
      take(this.ends.at(place), this.causeAt(place));
    }
  }

  /** When rows ended, in ms since the epoch, in no particular order, without unknown times. */
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

  /** Nearly all rows have no cause. */
  private causeAt(place: number): number {
    const cause = this.causes.at(place);
    return cause === 0 ? 0 : (this.causeOf.get(cause) ?? cause);
  }

  private placeOf(index: number): number {
    return this.order?.[index] ?? index;
  }
}
