import type { Disk } from '../../disk/disk.js';
import { onDisk } from '../../disk/disk-fault.js';
import type { Journal } from '../../journal/journal.js';
import { isEnd } from '../../row/row-status.js';
import { unescapeFormula } from '../../manifest/columns/formula-text.js';
import { holdsExtent } from '../line-file.js';
import type { FilesCovered } from '../spreadsheet.js';
import { filePurchases, type FilePurchase } from './file-purchases.js';

interface Place {
  readonly disk: Disk;
  readonly folder: string;
  readonly journal: Pick<Journal, 'recovered' | 'find'>;
  /** The part of the journal that the files cover, according to summary.json. */
  readonly covered: FilesCovered | undefined;
}

export type LostPurchase = FilePurchase & {
  /** Whether the journal has the end of the row, but has lost its intent or its reply. */
  readonly hasEnd: boolean;
};

/**
 * The lines of the run's files whose row and attempt the journal does not know. A line is written after its outcome is
 * durable in the journal, so a crash never leaves such a line: if there is one, the journal is an older copy, or was
 * lost. A line that was edited by hand names a row and an attempt that the journal knows, or is no longer a complete
 * line. After a repair, the result also has the lines of rows of which the journal has only the end: they could not be
 * rewritten from it.
 */
export async function* lostPurchases(place: Place): AsyncGenerator<LostPurchase, void, void> {
  const { disk, folder, journal } = place;
  const checked = await checkedBytes(place);
  for await (const purchase of filePurchases(disk, folder, (name) => checked.get(name) ?? 0)) {
    // costs.csv puts an apostrophe before an id that looks like a formula to a spreadsheet.
    const ids = purchase.kind === 'cost' ? [purchase.id, unescapeFormula(purchase.id)] : [purchase.id];
    const known = await Promise.all(ids.map((id) => isKnown(journal, id, purchase.attempt)));
    const isLost = !known.includes(true);
    if (isLost || (await lacksRecords(journal, purchase)))
      yield { ...purchase, id: ids.at(-1) ?? purchase.id, hasEnd: !isLost };
  }
}

/** Whether the journal knows the end of this line's purchase, but has lost the intent or reply that the line is written from. */
async function lacksRecords(
  journal: Pick<Journal, 'recovered' | 'find'>,
  { kind, id, attempt }: FilePurchase,
): Promise<boolean> {
  const { recovered } = journal;
  const state = recovered.repairs > 0 ? recovered.rows.get(id) : undefined;
  if (state === undefined || attempt < state.attempts) return false;
  if (kind === 'result') return state.status === 'completed' && !state.isWhole;
  if (kind !== 'failure' || state.status === 'completed' || !isEnd(state.status)) return false;
  const { intent, outcome } = (await journal.find(id)) ?? {};
  return intent === undefined && outcome?.status === 'failed' && outcome.row === undefined;
}

/** For each file, how many of its bytes are unchanged since the journal had all of their records. */
async function checkedBytes({ disk, folder, journal, covered }: Place): Promise<Map<string, number>> {
  const checked = new Map<string, number>();
  const { records, repairs } = journal.recovered;
  if (covered === undefined || covered.records > records || (covered.repairs ?? 0) !== repairs)
    return checked;
  const isClean = covered.records === records;
  for (const [name, file] of Object.entries(covered.files)) {
    const path = `${folder}/${name}`;
    const isSame = isClean && (await holdsExtent(disk, path, file, false));
    if (isSame || (await onDisk(path, () => holdsExtent(disk, path, file, true))))
      checked.set(name, file.bytes);
  }
  return checked;
}

/** A journal loses records only at its end, so if a later attempt is known, the earlier ones were known completely. */
async function isKnown(
  journal: Pick<Journal, 'recovered' | 'find'>,
  id: string,
  attempt: number,
): Promise<boolean> {
  const state = journal.recovered.rows.get(id);
  if (state === undefined) return false;
  if (attempt < state.attempts || (attempt === state.attempts && isEnd(state.status))) return true;
  const { intent, outcome } = (await journal.find(id)) ?? {};
  if (outcome === undefined) return false;
  return intent === undefined || outcome.purchase === undefined || outcome.purchase.attempt >= attempt;
}
