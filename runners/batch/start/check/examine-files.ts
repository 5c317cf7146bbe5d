import { replaceFile } from '../../disk/replace-file.js';
import { journalWithout } from '../../journal/journal-error.js';
import { appendAll, journalPath, type Journal } from '../../journal/journal.js';
import type { JournalRecord } from '../../journal/record.js';
import { imagesFolder } from '../../artifacts/artifact-name.js';
import { Evidence, lostRecords } from '../../sinks/evidence/evidence-records.js';
import { lostPurchases } from '../../sinks/evidence/lost-purchases.js';
import { slackOf, withLost, type LostRecords } from '../../journal/repair-journal.js';
import type { ProjectionsOptions } from '../../sinks/projections.js';
import { readSummary, type Summary } from '../../sinks/summary-file.js';

export type Examining = Pick<ProjectionsOptions, 'disk' | 'folder' | 'journal'>;

/**
 * Compares the files of a run with its journal. Files are written after the journal, so they can only be ahead of it if it was
 * removed, emptied or replaced by an older copy. The rows it has lost would then be bought again and removed from the files.
 *
 * @throws {JournalError} `journal-broken` if the journal has lost records.
 */
export async function refuseLostJournal(examining: Examining): Promise<void> {
  const why = await whyLost(examining, await readSummary(examining.disk, examining.folder));
  if (why !== undefined) throw journalWithout(examining.folder, why);
}

/**
 * The same by the summary alone, for a run that may be going on meanwhile.
 *
 * @param summary as it was before the journal was read: a run writes its journal first
 * @throws {JournalError} `journal-broken` if the journal has fewer records than the summary covers
 */
export function refuseBehind(
  folder: string,
  journal: Pick<Journal, 'recovered'>,
  summary: Summary | undefined,
): void {
  const why = whyBehind(journal, summary);
  if (why !== undefined) throw journalWithout(folder, why);
}

interface Repairing extends Examining {
  /** How many bytes the journal lacks according to a note outside of the folder, whose files may all be of an earlier state. */
  readonly lostBytes: number;
}

/**
 * Restores purchases that the journal has lost from the files, and holds further rows that may have been sent. Returns a
 * function to call after the journal is closed and before it is read again; `undefined` if nothing was lost.
 */
export async function repairLostJournal(
  { lostBytes, ...examining }: Repairing,
  now: () => number,
): Promise<(() => Promise<void>) | undefined> {
  const { disk, folder, journal } = examining;
  const summary = await readSummary(disk, folder);
  if (lostBytes === 0 && (await whyLost(examining, summary)) === undefined) return undefined;
  const { recovered } = journal;
  const evidence = new Evidence(recovered.tally.accounts.map(({ purchase }) => purchase));
  const lost = new Map<string, LostRecords>();
  const place = { ...examining, covered: summary?.covers };
  for await (const purchase of lostPurchases(place)) {
    const known = purchase.hasEnd ? await journal.find(purchase.id) : undefined;
    if (known === undefined) evidence.add(purchase);
    else lost.set(purchase.id, lostRecords(purchase, known));
  }
  const lastRow = Math.max(recovered.lastRow, evidence.lastRow);
  const heldUpToRow = (await wasPicked(journal)) ? Number.MAX_SAFE_INTEGER : lastRow + slackOf(lostBytes);
  const missing = Math.max((summary?.covers?.records ?? 0) - recovered.records, evidence.size, 1);
  const records: JournalRecord[] = [{ k: 'repaired', at: now(), missing, heldUpToRow }];
  records.push(...evidence.records((id) => recovered.rows.get(id)));
  await appendAll(journal, records);
  return async () => {
    if (lost.size > 0) await replaceFile(disk, journalPath(folder), withLost(journal.records(), lost));
  };
}

async function whyLost(examining: Examining, summary: Summary | undefined): Promise<string | undefined> {
  const { disk, folder, journal } = examining;
  const { records } = journal.recovered;
  const behind = whyBehind(journal, summary);
  if (behind !== undefined) return behind;
  for await (const purchase of lostPurchases({ ...examining, covered: summary?.covers }))
    return `line ${purchase.line} of ${purchase.file} is of row ${JSON.stringify(purchase.id)}, attempt ${purchase.attempt}, which it does not know`;
  // Without any other trace of a run, the pictures are not millrace's.
  if (records > 0 || (await disk.stat(`${folder}/run.log`)) === undefined) return undefined;
  const pictures = (await disk.list(`${folder}/${imagesFolder}`)).filter((name) => !name.endsWith('.part'));
  return pictures[0] === undefined
    ? undefined
    : `${imagesFolder}/${pictures[0]} was saved, and it tells of no row`;
}

function whyBehind(journal: Pick<Journal, 'recovered'>, summary: Summary | undefined): string | undefined {
  if (summary === undefined || !isBehind(journal, summary)) return undefined;
  const { records } = journal.recovered;
  return `summary.json was written when it held ${summary.covers?.records ?? 0} records, and it holds ${records}`;
}

/** Whether the summary covers more records than the journal has. */
function isBehind(
  { recovered }: Pick<Journal, 'recovered'>,
  { covers, starts, thisStart }: Summary,
): boolean {
  const { records = 0, repairs = 0 } = covers ?? {};
  if (repairs !== recovered.repairs) return repairs > recovered.repairs;
  if (records <= recovered.records) return false;
  // Version 0.1.0 also counted records that it could not write, and ended with 70; all records that it wrote are there.
  const isMiscounted =
    starts === recovered.starts && thisStart.exitCode === 70 && recovered.lastStop?.exitCode === 70;
  return !isMiscounted;
}

/** Rows that were selected with `only` are sent in no fixed order: any row may have been sent. */
async function wasPicked(journal: Journal): Promise<boolean> {
  for await (const record of journal.records())
    if (record.k === 'start' && record.settings['only'] !== undefined) return true;
  return false;
}
