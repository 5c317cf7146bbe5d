import type { ArtifactKind } from '../batch/artifacts/artifact-format.js';
import type { RowError } from '../batch/journal/record.js';
import type { EndStatus } from '../batch/row/row-status.js';

/** The data about the whole run, embedded in the report's page as JSON. Money in micro-dollars, times in ms. */
export interface PageData {
  readonly run: RunFacts;
  /** The price of one more picture by resolution, from the run, or else from the service's list. */
  readonly prices: Readonly<Record<string, number>>;
  /** The class of a row: completed, or a group of failures. */
  readonly classes: readonly RowClass[];
  /** Two base-36 digits per row, in the order of the manifest: the index of its class in `classes`. */
  readonly rows: string;
  /** Row numbers in the same order, as runs of consecutive ones: first number, how many. */
  readonly numbers: readonly (readonly [number, number])[];
  readonly source: RowSource;
  /** Only on the live page: indexes in `rows` of the rows that ended last, the newest first. */
  readonly latest?: readonly number[];
}

/** The update for an open page if only the rows in flight have changed. */
export interface FlightUpdate {
  /** HTML from the server, escaped. */
  readonly flight: string;
}

/** The update for an open page if the run has made progress. */
export interface LiveUpdate {
  /** The figures above the gallery: HTML from the server, escaped. */
  readonly summary: string;
  /** The figures below the gallery. */
  readonly figures: string;
  readonly data: PageData;
}

export interface RunFacts {
  /** The same for every report of one run: reviews are stored under it. */
  readonly key: string;
  readonly name: string;
  /** Its path for a command, with the options that a redo needs. */
  readonly folder: string;
  readonly options: readonly string[];
  /** The folder of the run's manifest with a trailing separator; empty for stdin. */
  readonly manifestFolder: string;
  /** Whether nothing was spent and a redo spends nothing. */
  readonly isRehearsal: boolean;
  readonly manifestFormat: 'csv' | 'jsonl';
  /** Columns that multiplied its rows (`--each`, `--repeat`), in their order. */
  readonly axes: readonly string[];
  readonly hasPictures: boolean;
}

/** Where the page's rows are: in the page itself, or in script files beside it. */
export type RowSource =
  | { readonly kind: 'inline' }
  | {
      readonly kind: 'files';
      /** The folder of `page-0001.js` and `search-01.js`, relative to the page. */
      readonly folder: string;
      /** The version of this report: files of another version are not used. */
      readonly version: string;
      readonly rowsPerFile: number;
    };

/**
 * The data in a file of rows in addition to their lines. The lines are copied from the run's files; the page derives everything
 * else from them.
 */
export interface LineFacts {
  /** A letter for each row: the line of a result, the line of a failure, or a row that is already parsed. */
  readonly kinds: string;
  /** Row numbers, as runs. */
  readonly numbers: readonly (readonly [number, number])[];
  /** Addresses of the thumbnails of saved pictures; `null` for a row without one. Absent if no row has one. */
  readonly thumbs?: readonly (string | null)[];
  /** References on this machine, by their name in the manifest. Pairs, because a name may be `__proto__`. */
  readonly references: readonly (readonly [string, PageReference])[];
}

export const lineKinds = { result: 'r', failure: 'f', made: 'm' } as const;

export interface RowClass {
  readonly status: EndStatus;
  /** Shown as the name of the filter. */
  readonly label: string;
  readonly count: number;
  /** Number of its group of failures, from 1; 0 if completed. */
  readonly cause: number;
  /** Earlier pictures of the row exist. */
  readonly again?: boolean;
  /** The row is to be done again, and shows its result until then: it does not count as completed. */
  readonly toGo?: boolean;
}

export interface PageRow {
  readonly id: string;
  readonly row: number;
  readonly kind: string;
  readonly endpoint?: string;
  readonly jobId?: string;
  readonly status: EndStatus;
  /** The row as in a manifest, so that it can be sent again. Absent if it is too long to be kept here. */
  readonly cells?: Readonly<Record<string, unknown>>;
  readonly references: readonly PageReference[];
  readonly picture?: PagePicture;
  /** The files that `--save-output` saved. */
  readonly files?: readonly PageFile[];
  /** An output without a picture, as text. */
  readonly output?: string;
  /** It is to be done again: this is its result until a new one is there. */
  readonly toGo?: true;
  /** Earlier pictures that were replaced since, the newest first. */
  readonly earlier?: readonly EarlierPicture[];
  /** Micro-dollars; `null` if not known. */
  readonly cost?: number | null;
  readonly delayTime?: number;
  readonly executionTime?: number;
  readonly attempts?: number;
  readonly settledAt?: string;
  readonly error?: PageError;
}

/** A path is relative to the output folder and encoded as a URL. */
export interface PagePicture {
  readonly path?: string;
  /** A data URL, or the path of a file. */
  readonly thumb?: string;
  readonly bytes?: number;
  /** The service's URL of it until `expiresAt`; http or https. */
  readonly url?: string;
  readonly expiresAt?: string;
}

export interface PageFile {
  /** The path of the output field with its address. */
  readonly field: string;
  /** Relative to the output folder, encoded as a URL; absent if it was not saved. */
  readonly path?: string;
  /** Recognised by its bytes, which also decide the extension. */
  readonly kind?: ArtifactKind;
  readonly bytes?: number;
}

export interface PageReference extends PagePicture {
  /** As the manifest has it, shortened. */
  readonly name: string;
}

export interface EarlierPicture extends PagePicture {
  readonly prompt?: string;
  readonly resolution?: string;
  readonly cost?: number | null;
}

export type PageError = Pick<RowError, 'message' | 'detail' | 'httpStatus' | 'paid'>;

/** The row with each address of a thumbnail changed. */
export function withThumbs(row: PageRow, change: (thumb: string) => string | undefined): PageRow {
  const changed = <T extends Pick<PagePicture, 'thumb'>>(picture: T): T =>
    picture.thumb === undefined ? picture : { ...picture, thumb: change(picture.thumb) };
  return {
    ...row,
    references: row.references.map(changed),
    ...(row.picture && { picture: changed(row.picture) }),
    ...(row.earlier && { earlier: row.earlier.map(changed) }),
  };
}

/** The name of a script file with rows, from 0. */
export function pageName(file: number): string {
  return `page-${String(file + 1).padStart(4, '0')}.js`;
}

/** Row numbers in order, as runs of consecutive ones: first number, count. A repeated number begins a new run. */
export function numberRuns(numbers: Iterable<number>): [number, number][] {
  const runs: [number, number][] = [];
  let last: [number, number] | undefined;
  for (const number of numbers) {
    if (last !== undefined && number === last[0] + last[1]) last[1]++;
    else runs.push((last = [number, 1]));
  }
  return runs;
}

/** The place of a number among the runs; `undefined` if it is in none. */
export function placeInRuns(
  runs: readonly (readonly [number, number])[],
  number: number,
): number | undefined {
  let before = 0;
  for (const [first, count] of runs) {
    if (number >= first && number < first + count) return before + number - first;
    before += count;
  }
  return undefined;
}

/** The number at a place among the runs; `undefined` beyond them. */
export function numberInRuns(
  runs: readonly (readonly [number, number])[],
  place: number,
): number | undefined {
  let before = 0;
  for (const [first, count] of runs) {
    if (place < before + count) return first + place - before;
    before += count;
  }
  return undefined;
}
