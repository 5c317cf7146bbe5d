import type { ArtifactKind } from '../batch/artifacts/artifact-format.js';
import type { Paid } from '../../src/contract/failure-code.js';
import type { EndStatus } from '../batch/row/row-status.js';

/** What the report's page knows of the whole run; embedded as JSON. Money in micro-dollars, times in ms. */
export interface PageData {
  readonly run: RunFacts;
  /** What one more picture costs, by resolution; read from the run, else the service's list. */
  readonly prices: Readonly<Record<string, number>>;
  /** What a row can be: completed, or a member of one group of failures. */
  readonly classes: readonly RowClass[];
  /** Two base-36 digits a row, in the order of the manifest: the row's place in `classes`. */
  readonly rows: string;
  /** Row numbers in the same order, as runs of consecutive ones: first number, how many. */
  readonly numbers: readonly (readonly [number, number])[];
  readonly source: RowSource;
  /** The page is served while the run goes: places in `rows` of those that ended last, the newest first. */
  readonly latest?: readonly number[];
}

/** What an open page is told when the rows in flight have changed and nothing else has. */
export interface FlightUpdate {
  /** Written and escaped by the server. */
  readonly flight: string;
}

/** What an open page is told when the run that it watches has gone on. */
export interface LiveUpdate {
  /** The figures above the gallery, written and escaped by the server. */
  readonly summary: string;
  /** Those below it. */
  readonly figures: string;
  readonly data: PageData;
}

export interface RunFacts {
  /** The same for every report of one run: marks are kept under it. */
  readonly key: string;
  readonly name: string;
  /** As a command takes it, with the options that a repeat needs. */
  readonly folder: string;
  readonly options: readonly string[];
  /** The folder of the run's manifest with a separator at its end; empty: it came through stdin. */
  readonly manifestFolder: string;
  /** Nothing was spent, and a redo spends nothing. */
  readonly isRehearsal: boolean;
  readonly manifestFormat: 'csv' | 'jsonl';
  /** Columns that multiplied its rows (`--each`, `--repeat`), in their order. */
  readonly axes: readonly string[];
  /** Some results are pictures. */
  readonly hasPictures: boolean;
}

/** Where the page gets its rows: out of the page itself, or from script files beside it. */
export type RowSource =
  | { readonly kind: 'inline' }
  | {
      readonly kind: 'files';
      /** Of the page, where `page-0001.js` and `search-01.js` lie. */
      readonly folder: string;
      /** Of this writing: files of another one are not taken. */
      readonly version: string;
      readonly rowsPerFile: number;
    };

/**
 * What a file of rows says beside their lines, which stand in it as they stand in the run's files: what follows from a line
 * is worked out by the page that shows it.
 */
export interface LineFacts {
  /** A letter a row: the line of a result or of a failure, or a row that was made already. */
  readonly kinds: string;
  /** Row numbers, as runs. */
  readonly numbers: readonly (readonly [number, number])[];
  /** Addresses of the thumbnails of saved pictures; `null`: a row has none. Absent: no row has. */
  readonly thumbs?: readonly (string | null)[];
  /** Pictures that rows were given and that lie on this machine, by the name that the manifest has. Pairs: a name may be `__proto__`. */
  readonly references: readonly (readonly [string, PageReference])[];
}

export const lineKinds = { result: 'r', failure: 'f', made: 'm' } as const;

export interface RowClass {
  readonly status: EndStatus;
  /** Shown as the name of the filter. */
  readonly label: string;
  readonly count: number;
  /** Number of its group of failures, from 1; 0: completed. */
  readonly cause: number;
  /** Has earlier pictures behind it. */
  readonly again?: boolean;
}

/** One row in the gallery. */
export interface PageRow {
  readonly id: string;
  readonly row: number;
  readonly kind: string;
  readonly endpoint?: string;
  readonly jobId?: string;
  readonly status: EndStatus;
  /** The row as a manifest has it, so that it can be sent again. Absent when it is too long to be kept here. */
  readonly cells?: Readonly<Record<string, unknown>>;
  readonly references: readonly PageReference[];
  readonly picture?: PagePicture;
  /** What `--save-output` has saved of the answer. */
  readonly files?: readonly PageFile[];
  /** Answers without a picture, as text. */
  readonly output?: string;
  /** Pictures that were bought before and replaced since, the newest first. */
  readonly earlier?: readonly EarlierPicture[];
  /** Micro-dollars; `null`: not known. */
  readonly cost?: number | null;
  readonly delayTime?: number;
  readonly executionTime?: number;
  readonly attempts?: number;
  readonly submittedAt?: string;
  readonly settledAt?: string;
  readonly error?: PageError;
}

/** A path is relative to the output folder and encoded as a URL. */
export interface PagePicture {
  readonly path?: string;
  /** A data URL, or the path of a file. */
  readonly thumb?: string;
  readonly bytes?: number;
  /** Where the service keeps it until `expiresAt`; http or https. */
  readonly url?: string;
  readonly expiresAt?: string;
}

export interface PageFile {
  /** The field of the answer that named it. */
  readonly field: string;
  /** Relative to the output folder and encoded as a URL; without one it was not saved. */
  readonly path?: string;
  /** By its bytes, which have given it its ending. */
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
  readonly settledAt?: string;
}

export interface PageError {
  readonly message: string;
  readonly detail?: string;
  readonly httpStatus?: number;
  readonly paid: Paid;
}

/** Row numbers in order, as runs of consecutive ones: first number, how many. A number that comes twice begins a run. */
export function numberRuns(numbers: Iterable<number>): [number, number][] {
  const runs: [number, number][] = [];
  let last: [number, number] | undefined;
  for (const number of numbers) {
    if (last !== undefined && number === last[0] + last[1]) last[1]++;
    else runs.push((last = [number, 1]));
  }
  return runs;
}

/** The place of a number among the runs; `undefined` when it is in none. */
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
