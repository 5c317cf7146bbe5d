import { nodeDisk } from '../../batch/disk/node-disk.js';
import { peekJournal } from '../../batch/journal/peek-journal.js';
import type { PriceBook } from '../../batch/ledger/price-book.js';
import type { Ahead } from '../../batch/start/check/ahead.js';
import { checkManifest, nothingKnown } from '../../batch/start/check/check-manifest.js';
import { refuseFolder, refuseOtherManifest } from '../../batch/start/check/refuse-folder.js';
import { resolveOptions } from '../../batch/context/resolve-options.js';
import { readSummary } from '../../batch/sinks/summary-file.js';
import type { CliIo } from '../io/cli-io.js';
import { outFolder, type ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/run-options.js';
import { capOf, choicesOf } from './batch-options.js';
import { firstRunNote } from './first-run-note.js';
import { plannedSettings } from './plan-source.js';

/** What a start would do to the run in the folder, by what earlier starts left there. */
export interface PlanDifference {
  readonly out: string;
  readonly ahead: Ahead;
  /** The run has begun. */
  readonly isBegun: boolean;
  /** Rows of the whole run by what became of them. */
  readonly done: { readonly completed: number; readonly failed: number; readonly held: number };
  /** Rows of the manifest that an earlier start left on their way. */
  readonly goingOn: number;
  /** How long the start would take at the pace of the last one, in ms; absent where that had none. */
  readonly takesMs?: number;
  /** What a person should know of the folder's manifest. */
  readonly notes: readonly string[];
}

/**
 * Compares a manifest with the run in its folder, as a start would, and writes nothing. `undefined` where there is nothing
 * to compare: the run has not begun and no cap holds, or the manifest is stdin, which cannot be read a second time.
 *
 * @throws {MillraceError} `usage` where a start would refuse the folder
 */
export async function planDifference(
  source: ManifestSource,
  options: RunOptions,
  io: Pick<CliIo, 'cwd'>,
  prices: PriceBook,
): Promise<PlanDifference | undefined> {
  const { path } = source;
  if (path === undefined) return undefined;
  const out = outFolder(source, options.out, options.local, io.cwd);
  const notes = await firstRunNote(path, out, io.cwd);
  await refuseFolder(nodeDisk, out);
  const journal = await peekJournal(nodeDisk, out);
  if (journal === undefined && options.maxCost === undefined && notes.length === 0) return undefined;
  const known = journal?.recovered ?? nothingKnown;
  for (const { cost, ...row } of journal?.recovered.highestReported ?? []) prices.observe(row, cost);
  const settings = await plannedSettings(source, options);
  const manifest = { path, ...settings };
  const resolved = resolveOptions({ manifest, out, prices, ...choicesOf(options), ...capOf(options) });
  const { ahead, pending } = await checkManifest(resolved, known, { isStopping: false });
  if (journal !== undefined) refuseOtherManifest(resolved, journal.recovered, ahead);
  const takesMs = await duration(out, ahead);
  return {
    ...{ out, ahead, notes, isBegun: journal !== undefined, done: doneOf(journal?.recovered.totals.rows) },
    goingOn: pending.size - ahead.doubled,
    ...(takesMs !== undefined && { takesMs }),
  };
}

function doneOf(rows: ReadonlyMap<string, number> = new Map()): PlanDifference['done'] {
  const onTheirWay = ['open', 'sent', 'accepted', 'replied'];
  const held = rows.get('unknown') ?? 0;
  const completed = rows.get('completed') ?? 0;
  const ended = [...rows].reduce(
    (sum, [status, count]) => sum + (onTheirWay.includes(status) ? 0 : count),
    0,
  );
  return { completed, held, failed: ended - completed - held };
}

/** Fewer rows than this have no pace. */
const enoughRows = 3;

async function duration(out: string, { fits }: Ahead): Promise<number | undefined> {
  const last = await readSummary(nodeDisk, out).catch(() => undefined);
  const { startedAt, endedAt } = last?.times ?? {};
  const ended = last?.thisStart.ended ?? 0;
  if (startedAt === undefined || endedAt === undefined || ended < enoughRows || fits.rows === 0)
    return undefined;
  return ((Date.parse(endedAt) - Date.parse(startedAt)) / ended) * fits.rows;
}
