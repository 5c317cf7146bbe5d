import { isObject } from '../../../src/contract/check-option.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import { onDisk } from '../disk/disk-fault.js';
import type { Disk } from '../disk/disk.js';
import { readFile, valueOfJson } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';
import type { ReachedCap } from '../ledger/value-caps.js';
import type { FilesCovered } from './spreadsheet.js';

/** Replaces summary.json with a new file. */
export async function writeSummary(disk: Disk, folder: string, summary: Summary): Promise<void> {
  const path = `${folder}/summary.json`;
  await onDisk(path, () => replaceFile(disk, path, `${JSON.stringify(summary, undefined, 2)}\n`));
}

/** The summary in the folder; `undefined` if there is none or it is not valid. */
export async function readSummary(disk: Disk, folder: string): Promise<Summary | undefined> {
  const path = `${folder}/summary.json`;
  const found = await onDisk(path, () => disk.stat(path));
  if (found?.kind !== 'file') return undefined;
  const text = (await onDisk(path, () => readFile(disk, path, found.size))).toString();
  const value = valueOfJson(text);
  return isSummary(value) ? value : undefined;
}

/** A person may have edited the file, so the parts that a later start relies on are checked. */
function isSummary(value: unknown): value is Summary {
  if (!isObject(value)) return false;
  const { rows, cost, times, thisStart } = value as Record<string, unknown>;
  if (![rows, cost, times, thisStart].every(isObject)) return false;
  if (!('covers' in value) || value.covers === undefined) return true;
  const { records, files } = (value.covers ?? {}) as { records?: unknown; files?: unknown };
  return Number.isSafeInteger(records) && isObject(files) && Object.values(files).every(isExtent);
}

function isExtent(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { bytes, crc, columns } = value as { bytes?: unknown; crc?: unknown; columns?: unknown };
  const hasColumns =
    columns === undefined || (Array.isArray(columns) && columns.every((name) => typeof name === 'string'));
  return Number.isSafeInteger(bytes) && Number(bytes) >= 0 && typeof crc === 'number' && hasColumns;
}

/** The object in summary.json. Money in US dollars, times as ISO text. */
export interface Summary {
  /** Over all starts of the run. */
  readonly rows: {
    /** Rows of the manifest as it was at the latest start. */
    readonly total: number;
    readonly completed: number;
    readonly failed: number;
    /** Without an outcome yet. */
    readonly toDo: number;
  };
  /**
   * The part of `toDo` that was on its way when the start ended: jobs at the service, and rows that may have been paid
   * for. Absent if there are none.
   */
  readonly pending?: PendingRows | undefined;
  /** Failed rows by code. */
  readonly failures: Partial<Record<FailureCode, number>>;
  readonly cost: CostSummary;
  readonly times: {
    readonly firstStartAt: string;
    readonly startedAt: string;
    /** Absent during the run, and after a crash. */
    readonly endedAt?: string;
  };
  /** GETs of a job's status, over all starts. */
  readonly statusCalls: number;
  readonly starts: number;
  /** The results of the latest start. */
  readonly thisStart: StartSummary;
  /** The prices used, in US dollars: by resolution for edits, by endpoint if it has its own price, `assumed` elsewhere. */
  readonly prices: Readonly<Record<string, number>>;
  /** Where those prices come from (`published`, or a file), and the highest reported prices that differ from them. */
  readonly priceTable?: { readonly name: string; readonly reported?: Readonly<Record<string, number>> };
  /** The part of the journal that the other files include; a later start continues from it. */
  readonly covers?: FilesCovered;
}

/** Rows on their way: the next start asks the service about them, and sends none again unless an option says so. */
export interface PendingRows {
  /** Sent, but not answered before the run stopped; the next start treats them as unknown. */
  readonly sent: number;
  /** Jobs that the service has accepted and that had not ended. */
  readonly accepted: number;
  /** Paid for, with pictures still to be saved. */
  readonly replied: number;
}

export interface CostSummary {
  readonly reported: number;
  readonly estimated: number;
  /** Held for purchases that may have been made. */
  readonly unknown: number;
  /** The part of `unknown` whose rows were bought again since. */
  readonly possiblyDouble: number;
  /** Paid for rows that have not ended because their pictures are still to be saved; it becomes `reported` once they are. */
  readonly unsaved?: number;
  /** Reserved for rows that are still on their way: accepted, or sent and not answered when the start ended. */
  readonly reserved?: number;
  /** The number of purchases whose price is not known. */
  readonly unpriced: number;
  /** The sum by which purchases of this start cost more than was reserved for them. */
  readonly drift: number;
  /** The cap over all starts; absent if there is none. */
  readonly cap?: number;
  /** By resolution; the empty key is for purchases without one. */
  readonly byResolution: Readonly<
    Record<string, { purchases: number; reported: number; estimated: number; unknown: number }>
  >;
  /** By the values of each column that the run adds up by (`--cost-by`); absent if there is none. */
  readonly by?: Readonly<Record<string, ColumnCosts>>;
}

export interface ColumnCosts {
  /** The hundred values with the highest costs. The empty key is for rows that have no value. */
  readonly values: Readonly<Record<string, ValueSummary>>;
  /** All further values together; absent if there are none. */
  readonly others?: ValueSummary & { readonly values: number };
}

/** The costs of the rows with one value, in US dollars, and how these rows ended. */
export interface ValueSummary {
  /** Purchases whose end is known. */
  readonly purchases: number;
  readonly reported: number;
  readonly estimated: number;
  readonly unknown: number;
  readonly completed: number;
  readonly failed: number;
  /** The part of `failed` that may have been bought; a person decides. */
  readonly held: number;
  /** The part of `failed` that is paid for, but whose outputs are still to be downloaded. */
  readonly undownloaded: number;
}

interface StartSummary {
  /** Maximum of rows in flight, at its last value. */
  readonly concurrency?: number;
  /** Maximum of requests a second, as given or as measured; absent if there was no limit. */
  readonly rate?: number;
  readonly ended: number;
  readonly completed: number;
  readonly failed: number;
  /** Rows whose request may have been accepted; a person decides. */
  readonly unknown: number;
  /**
   * Calls that the service made to the run: accepted ones, and ones refused as forged, unreadable or about another job.
   * Absent if the run takes no callbacks.
   */
  readonly callbacks?: { readonly taken: number; readonly refused: number };
  /** Why requests do not reach the service; only present while they do not. */
  readonly unreached?: string;
  /** Absent while the start runs. */
  readonly exitCode?: number;
  readonly reason?: string;
  /** The caps that left no room for a row, if the start ended for that reason. */
  readonly caps?: readonly ReachedCap[];
}
