import type { FailureCode } from '../../src/contract/failure-code.js';
import { MillraceError } from '../../src/contract/millrace-error.js';
import { toUsd } from '../../src/contract/micro-dollars.js';
import type { Disk } from './disk/disk.js';
import { nodeDisk } from './disk/node-disk.js';
import { type JournalReader, peekJournal } from './journal/recovered-journal.js';
import { whoHolds } from './lock/owner.js';
import { costsBySummary, costSummary, failureCounts, pendingRows, rowsSince } from './end/summary-of.js';
import type { Totals } from './row/totals.js';
import { isoTime } from './sinks/line-text.js';
import { readSummary, type CostSummary, type PendingRows, type Summary } from './sinks/summary-file.js';

/** The status of a run. Money in US dollars, times as ISO text. */
export interface RunStatus {
  /** Whether a process works on it. */
  readonly isRunning: boolean;
  /** It ran against the embedded emulator: nothing was spent. */
  readonly isRehearsal?: true;
  /** The process that works on it, from its owner file. */
  readonly owner?: { readonly pid: number; readonly host: string; readonly started: string };
  /** The rows of the run by what happened to them. */
  readonly rows: Summary['rows'];
  readonly failures: Partial<Record<FailureCode, number>>;
  /** Rows on their way: sent and not answered; accepted; paid for, with their picture still to be saved. */
  readonly pending: PendingRows;
  /** Ids of the first rows about which a person must decide. */
  readonly held: readonly string[];
  readonly cost: Omit<CostSummary, 'drift'> & { readonly reserved: number };
  /**
   * The cap that later starts use if they are given none, in US dollars; `null` if it was lifted. Absent if the run
   * remembers none.
   */
  readonly rememberedCap?: number | null;
  /** The caps of the values of columns that later starts use, in US dollars, by column. Absent if the run remembers none. */
  readonly rememberedCapsBy?: Readonly<Record<string, number>>;
  readonly times: {
    readonly firstStartAt?: string;
    readonly lastStartAt?: string;
    readonly endedAt?: string;
  };
  readonly starts: number;
  readonly statusCalls: number;
  /** How the latest start ended; absent while it runs, and after a crash. */
  readonly exitCode?: number;
  readonly reason?: string;
  /** The summary as it was last written; during a run at most a few seconds ago. */
  readonly summary?: Summary;
}

const heldShown = 20;

/**
 * The status of a running or finished run, from its files only: nothing is locked and nothing is changed. If `costBy`
 * is given, money and rows are added up by its columns instead of those that the run remembers.
 *
 * @throws {MillraceError} `usage` if the folder holds no run; `JournalError`.
 */
export async function readStatus(
  out: string,
  { disk = nodeDisk, costBy }: { disk?: Disk; costBy?: readonly string[] } = {},
): Promise<RunStatus> {
  const summary = await readSummary(disk, out);
  const journal = await peekJournal(disk, out, { costBy });
  if (journal === undefined)
    throw new MillraceError('usage', `${out} holds no run: there is no journal.jsonl in it`);
  const { recovered } = journal;
  const owner = await whoHolds(disk, out);
  const { totals } = recovered;
  const { capsUsd } = recovered.costBy;
  // The cap that the run remembers; a cap that only the configuration set is in the summary of its start.
  const cap = recovered.capUsd === undefined ? summary?.cost.cap : (recovered.capUsd ?? undefined);
  return {
    isRunning: owner !== undefined,
    ...(recovered.identity?.local === true && { isRehearsal: true as const }),
    ...(owner && { owner: { pid: owner.pid, host: owner.host.name, started: owner.started } }),
    rows: rowsOf(totals, summary),
    failures: failureCounts(totals.rows),
    pending: pendingRows(totals),
    held: await heldIds(journal),
    cost: {
      ...costSummary(totals),
      ...costsBySummary(recovered.tally),
      reserved: toUsd(totals.reserved),
      ...(cap !== undefined && { cap }),
    },
    ...(recovered.capUsd !== undefined && { rememberedCap: recovered.capUsd }),
    ...(Object.keys(capsUsd).length > 0 && { rememberedCapsBy: capsUsd }),
    times: timesOf(journal),
    starts: recovered.starts,
    statusCalls: totals.statusCalls,
    ...(recovered.lastStop && { exitCode: recovered.lastStop.exitCode }),
    ...(recovered.lastStop &&
      summary?.thisStart.reason !== undefined && { reason: summary.thisStart.reason }),
    ...(summary && { summary }),
  };
}

/**
 * The journal is newer than the last summary, but only the summary has the total of rows. For a run that was killed
 * before its first summary, only the rows in the journal count.
 */
function rowsOf(totals: Totals, summary: Summary | undefined): Summary['rows'] {
  const known = [...totals.rows.values()].reduce((sum, count) => sum + count, 0);
  return rowsSince(summary?.rows ?? { total: known, completed: 0, failed: 0, toDo: known }, totals);
}

async function heldIds(journal: JournalReader): Promise<string[]> {
  const ids: string[] = [];
  if ((journal.recovered.totals.rows.get('unknown') ?? 0) === 0) return ids;
  for await (const { id } of journal.rowsIn(['unknown'])) if (ids.push(id) === heldShown) break;
  return ids;
}

function timesOf({ recovered }: JournalReader): RunStatus['times'] {
  const { firstStartAt, lastStartAt, lastStop } = recovered;
  return {
    ...(firstStartAt !== undefined && { firstStartAt: isoTime(firstStartAt) }),
    ...(lastStartAt !== undefined && { lastStartAt: isoTime(lastStartAt) }),
    ...(lastStop && { endedAt: isoTime(lastStop.at) }),
  };
}
