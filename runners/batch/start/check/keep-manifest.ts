import type { ResolvedManifest } from '../../context/resolved-options.js';
import type { Disk } from '../../disk/disk.js';
import { createPriceBook } from '../../ledger/price-book.js';
import { byPriority } from '../../manifest/columns/row-priority.js';
import { IdBook } from '../../manifest/duplicates/id-book.js';
import { planManifest } from '../../manifest/plan-manifest.js';
import { PictureNames } from '../../pictures/picture-names.js';
import { PricedBytes } from '../../tasks/priced-bytes.js';
import { readRows } from '../../tasks/read-rows.js';
import { CheckedRows } from './checked-rows.js';
import { saveKeptCheck } from './kept-check.js';

/** A manifest, and the folder of its run. */
export interface KeptManifest extends Pick<ResolvedManifest, 'path' | 'settings'> {
  readonly out: string;
}

/**
 * Keeps what a manifest holds as the start keeps it that reads its rows beside the journal, and knows nothing of the journal: which of
 * the rows are left the start finds out by what is kept.
 */
export async function keepManifest(disk: Disk, { out, path, settings }: KeptManifest): Promise<void> {
  const manifest = { path, settings, bytes: new PricedBytes() };
  const prices = createPriceBook();
  const [rows, ids, names] = [new CheckedRows(), new IdBook(), new PictureNames()];
  let separatedBy: string | undefined;
  let columns: readonly string[] | undefined;
  const first = { ...settings, separatedBy: (name: string) => (separatedBy = name) };
  const plan = await planManifest(readRows(disk, { ...manifest, settings: first }, ids), {
    priceOf: (row) => prices.priceOf(row),
    areHashed: true,
    see: ({ valid, row }) => {
      columns ??= Object.keys(row.cells);
      if (!valid) return;
      names.see(row.id);
      rows.add(row, manifest.bytes.sections);
      rows.addName(row.id, names, ids);
    },
    separatedBy: () => separatedBy,
    again: (priorities) => byPriority(priorities, () => readRows(disk, manifest, new IdBook())),
  });
  const found = { plan, columns: columns ?? [], rows, ahead: { newlySent: [] } };
  await saveKeptCheck({ disk, out, manifest, prices }, { recovered: {} }, found);
}
