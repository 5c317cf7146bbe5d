import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { toUsd } from '../../../src/contract/micro-dollars.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { clearLeftovers, clearUnsaved } from '../disk/replace-file.js';
import type { Disk } from '../disk/disk.js';
import { nodeDisk } from '../disk/node-disk.js';
import { refuseElsewhere } from '../journal/elsewhere.js';
import { journalPath } from '../journal/journal.js';
import { openJournal } from '../journal/open-journal.js';
import type { RunBatchOptions } from '../context/run-options.js';
import { type FolderHold, holdRun } from '../lock/hold-run.js';
import { Projections } from '../sinks/projections.js';
import { readSummary, writeSummary, type Summary } from '../sinks/summary-file.js';
import { refuseLostJournal } from './check/examine-files.js';
import { JournalWriter } from '../context/journal-writer.js';
import { costsBySummary, costSummary, failureCounts, pendingOf, rowsSince } from '../end/summary-of.js';

/** Options for opening a run's folder without a manifest. */
export type FolderOptions = Pick<RunBatchOptions, 'disk' | 'scheduler' | 'journal' | 'hold'>;

/** A run that this process holds, between two starts. */
export interface OpenFolder {
  readonly out: string;
  readonly disk: Disk;
  readonly scheduler: SchedulerLike;
  readonly journal: JournalWriter;
  readonly projections: Projections;
}

/**
 * Locks a run, changes it through its journal, and brings its files up to date.
 *
 * @throws {MillraceError} `usage` if there is no run; `LockError`, `JournalError`, `DiskFault`.
 */
export async function withFolder<T>(
  out: string,
  options: FolderOptions,
  work: (folder: OpenFolder) => Promise<T>,
): Promise<{ readonly result: T; readonly summary: Summary | undefined }> {
  const { disk = nodeDisk, scheduler = asyncScheduler } = options;
  const now = (): number => scheduler.now();
  if ((await disk.stat(journalPath(out))) === undefined)
    throw new MillraceError('usage', `${out} holds no run: there is no journal.jsonl in it`);
  const held: FolderHold = await (options.hold ?? ((folder) => holdRun(folder, { disk, now })))(out);
  try {
    if (held.isInherited === true) await clearLeftovers(disk, out);
    const journal = await (options.journal ?? ((folder) => openJournal(disk, folder, { now })))(out);
    try {
      if (options.journal === undefined) await refuseElsewhere(disk, out, journal.recovered);
      if (held.isInherited === true) await clearUnsaved(disk, out);
      await refuseLostJournal({ disk, folder: out, journal });
      const { identity, repairs } = journal.recovered;
      if (options.journal === undefined && identity?.local !== true)
        await held.progress?.check(repairs, false);
      return await inJournal(out, { disk, scheduler }, new JournalWriter(journal), work);
    } finally {
      await journal.close();
    }
  } finally {
    await held.release();
  }
}

async function inJournal<T>(
  out: string,
  { disk, scheduler }: { disk: Disk; scheduler: SchedulerLike },
  writer: JournalWriter,
  work: (folder: OpenFolder) => Promise<T>,
): Promise<{ readonly result: T; readonly summary: Summary | undefined }> {
  const earlier = await readSummary(disk, out);
  const { journal } = writer;
  const projections = await Projections.open({ disk, folder: out, journal, covered: earlier?.covers });
  try {
    const folder = { out, disk, scheduler, journal: writer, projections };
    const update = async (): Promise<Summary | undefined> => {
      await projections.catchUp();
      const covers = await projections.sync();
      const summary = earlier && { ...updated(earlier, folder), covers };
      if (summary) await writeSummary(disk, out, summary);
      return summary;
    };
    const result = await work(folder).catch(async (error: unknown) => {
      await update().catch(() => undefined);
      throw error;
    });
    return { result, summary: await update() };
  } finally {
    await projections.close();
  }
}

/**
 * Brings the files of a start that is refused up to date with its journal: opening it may have copied records of workers, and the
 * last start may have died before it wrote its lines. The refusal is more important than an error of this.
 *
 * @param journal has the records of this start, too
 */
export async function updateFiles(
  { disk, out, scheduler }: Pick<OpenFolder, 'disk' | 'out' | 'scheduler'>,
  journal: JournalWriter,
): Promise<void> {
  try {
    const covered = (await readSummary(disk, out))?.covers?.records ?? 0;
    if (covered < journal.records)
      await inJournal(out, { disk, scheduler }, journal, () => Promise.resolve());
  } catch {
    // The next start does it again.
  }
}

/** The last start's summary with the current numbers. */
function updated(summary: Summary, { journal }: OpenFolder): Summary {
  const totals = journal.tally.totals();
  const failures = failureCounts(totals.rows);
  const rows = rowsSince(summary.rows, totals);
  const { drift, cap } = summary.cost;
  const cost = {
    ...costSummary(totals),
    ...costsBySummary(journal.tally.kept),
    drift,
    ...(totals.reserved > 0 && { reserved: toUsd(totals.reserved) }),
    ...(cap !== undefined && { cap }),
  };
  return { ...summary, rows, ...pendingOf(totals), failures, cost };
}
