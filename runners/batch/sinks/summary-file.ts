import type { FailureCode } from '../../../src/contract/failure-code.js';
import { onDisk } from '../disk/disk-fault.js';
import type { Disk } from '../disk/disk.js';
import { readFile, valueOfJson } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';
import type { ReachedCap } from '../ledger/value-caps.js';
import type { FilesCovered } from './spreadsheet.js';

/** Writes summary.json beside the old one, then puts it in its place. */
export async function writeSummary(disk: Disk, folder: string, summary: Summary): Promise<void> {
  const path = `${folder}/summary.json`;
  await onDisk(path, () => replaceFile(disk, path, `${JSON.stringify(summary, undefined, 2)}\n`));
}

/** The summary in the folder; `undefined` if none can be read. */
export async function readSummary(disk: Disk, folder: string): Promise<Summary | undefined> {
  const path = `${folder}/summary.json`;
  const found = await onDisk(path, () => disk.stat(path));
  if (found?.kind !== 'file') return undefined;
  const text = (await onDisk(path, () => readFile(disk, path, found.size))).toString();
  const value = valueOfJson(text);
  return isSummary(value) ? value : undefined;
}

/** A person may have edited it: what a later start relies on is looked at. */
function isSummary(value: unknown): value is Summary {
  if (!isObject(value)) return false;
  if (![value['rows'], value['cost'], value['times'], value['thisStart']].every(isObject)) return false;
  if (!('covers' in value) || value.covers === undefined) return true;
  const { records, files } = (value.covers ?? {}) as { records?: unknown; files?: unknown };
  return (
    Number.isSafeInteger(records) &&
    typeof files === 'object' &&
    files !== null &&
    Object.values(files).every(isExtent)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isExtent(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { bytes, crc, columns } = value as { bytes?: unknown; crc?: unknown; columns?: unknown };
  const hasColumns =
    columns === undefined || (Array.isArray(columns) && columns.every((name) => typeof name === 'string'));
  return Number.isSafeInteger(bytes) && Number(bytes) >= 0 && typeof crc === 'number' && hasColumns;
}

/** The object of summary.json. Money in USD, times as ISO text. */
export interface Summary {
  /** Over all starts of the run. */
  readonly rows: {
    /** Of the manifest as it stood at the latest start. */
    readonly total: number;
    readonly completed: number;
    readonly failed: number;
    /** Without an outcome yet. */
    readonly toDo: number;
  };
  /** Of `toDo`, as it stood at the end of the start: jobs at the service, and what may have been paid. Absent: there are none. */
  readonly pending?: PendingRows | undefined;
  /** Failed rows by code. */
  readonly failures: Partial<Record<FailureCode, number>>;
  readonly cost: CostSummary;
  readonly times: {
    readonly firstStartAt: string;
    readonly startedAt: string;
    /** Absent while the run goes, and after a crash. */
    readonly endedAt?: string;
  };
  /** GETs of a job's status, over all starts. */
  readonly statusCalls: number;
  readonly starts: number;
  /** What the latest start did. */
  readonly thisStart: StartSummary;
  /** The prices used, in USD: by resolution on edits, by endpoint where one has a price of its own, `assumed` elsewhere. */
  readonly prices: Readonly<Record<string, number>>;
  /** Where those prices are from (`published`, or a file), and the highest reported ones where they are others. */
  readonly priceTable?: { readonly name: string; readonly reported?: Readonly<Record<string, number>> };
  /** The last record of the journal that the other files include; a later start continues from it. */
  readonly covers?: FilesCovered;
}

/** Rows on their way: the next start asks for them, and sends none of them again unasked. */
export interface PendingRows {
  /** Not answered: of a run that has stopped, in doubt from the next start on. */
  readonly sent: number;
  /** Jobs that the service has, and that had not ended. */
  readonly accepted: number;
  /** Paid, with their pictures to be saved. */
  readonly replied: number;
}

export interface CostSummary {
  readonly reported: number;
  readonly estimated: number;
  /** Held for purchases that may have been made. */
  readonly unknown: number;
  /** Of `unknown`: rows that were bought again since. */
  readonly possiblyDouble: number;
  /** Paid for rows that have not ended, because their pictures are still to be saved: it is reported once they are. */
  readonly unsaved?: number;
  /** Reserved for rows that are on their way still: accepted, or sent and not answered when the start ended. */
  readonly reserved?: number;
  /** Purchases whose price is not known. */
  readonly unpriced: number;
  /** By how much purchases of this start were dearer than what was reserved for them. */
  readonly drift: number;
  /** The cap over all starts; absent if there is none. */
  readonly cap?: number;
  /** The empty key: purchases without a resolution. */
  readonly byResolution: Readonly<
    Record<string, { purchases: number; reported: number; estimated: number; unknown: number }>
  >;
  /** By the values of each column that the run adds up by (`--cost-by`); absent where there is none. */
  readonly by?: Readonly<Record<string, ColumnCosts>>;
}

export interface ColumnCosts {
  /** The hundred dearest values. The empty key: rows that have none. */
  readonly values: Readonly<Record<string, ValueSummary>>;
  /** All further values together; absent where there are none. */
  readonly others?: ValueSummary & { readonly values: number };
}

/** What the rows with one value have cost, in USD, and what became of them. */
export interface ValueSummary {
  /** With a known end. */
  readonly purchases: number;
  readonly reported: number;
  readonly estimated: number;
  readonly unknown: number;
  readonly completed: number;
  readonly failed: number;
  /** Of `failed`: they may have been bought, and a person decides. */
  readonly held: number;
}

interface StartSummary {
  /** Rows in flight at most, as it last stood. */
  readonly concurrency?: number;
  /** Requests a second at most, as given or as found out; absent if there was no limit. */
  readonly rate?: number;
  readonly ended: number;
  readonly completed: number;
  readonly failed: number;
  /** Rows whose request may have been accepted: a person decides. */
  readonly unknown: number;
  /** Calls of the service: taken, and refused as forged, unreadable or about another job. Absent where none are taken. */
  readonly callbacks?: { readonly taken: number; readonly refused: number };
  /** Why requests do not reach the service, while they do not. */
  readonly unreached?: string;
  /** Absent while it runs. */
  readonly exitCode?: number;
  readonly reason?: string;
  /** The caps that had no room for a row, where it ended for that. */
  readonly caps?: readonly ReachedCap[];
}
