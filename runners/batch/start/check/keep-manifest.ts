import type { ResolvedManifest } from '../../context/resolved-options.js';
import type { Disk } from '../../disk/disk.js';
import { createPriceBook } from '../../ledger/price-book.js';
import { byPriority } from '../../manifest/columns/row-priority.js';
import { FingerprintList, isAnyRepeated } from '../../manifest/duplicates/hash-table.js';
import { IdBook, type IdKeeper } from '../../manifest/duplicates/id-book.js';
import { IdHash } from '../../manifest/duplicates/id-hash.js';
import { RowSample } from '../../manifest/duplicates/row-sample.js';
import { requestPrint, SameTally } from '../../manifest/duplicates/same-requests.js';
import type { Row } from '../../manifest/manifest-row.js';
import { planManifest, type Plan } from '../../manifest/plan-manifest.js';
import { foldCase } from '../../artifacts/artifact-name.js';
import { PricedBytes } from '../../tasks/priced-bytes.js';
import { readRows } from '../../tasks/read-rows.js';
import { CheckedRows } from './checked-rows.js';
import { saveKeptCheck } from './kept-check.js';
import { SpooledChunks, HashList } from './spooled-chunks.js';

/** A manifest, and the output folder of its run. */
export interface KeptManifest extends Pick<ResolvedManifest, 'path' | 'settings'> {
  readonly out: string;
}

/**
 * Checks a manifest and saves the result, as a start does, but without the journal: the start compares the rows with the
 * journal later. Saves nothing if two ids are the same or differ only in case.
 */
export async function keepManifest(disk: Disk, manifest: KeptManifest): Promise<void> {
  const spooled = (what: string) => new SpooledChunks(disk, `${manifest.out}/.manifest.checked.${what}.tmp`);
  const spools = { rows: spooled('rows'), requests: spooled('requests') };
  await keepRows(disk, manifest, spools).finally(() =>
    Promise.all([spools.rows.close(), spools.requests.close()]),
  );
}

async function keepRows(
  disk: Disk,
  { out, path, settings }: KeptManifest,
  spools: Readonly<Record<'rows' | 'requests', SpooledChunks>>,
): Promise<void> {
  const manifest = { path, settings, bytes: new PricedBytes() };
  const prices = createPriceBook();
  const [rows, ids, sample] = [new CheckedRows(spools.rows), new IdList(), new RowSample()];
  const requests = new HashList(2, spools.requests);
  let separatedBy: string | undefined;
  let columns: readonly string[] | undefined;
  const first = { ...settings, separatedBy: (name: string) => (separatedBy = name) };
  const priceOf = (row: Row) => prices.priceOf(row);
  const plan = await planManifest(readRows(disk, { ...manifest, settings: first }, ids), {
    priceOf,
    see: ({ valid, row }) => {
      columns ??= Object.keys(row.cells);
      if (!valid) return;
      rows.add(row, manifest.bytes.sections);
      sample.add(row);
      const print = requestPrint(row);
      if (print !== undefined) requests.add(print.high, print.low);
    },
    separatedBy: () => separatedBy,
  });
  if (!(await ids.areUnlike(rows))) return;
  rows.hasCapitals = ids.haveCapitals;
  const read = () => readRows(disk, manifest, new IdList());
  const again = (priorities: Plan['priorities']) => byPriority(priorities, read);
  const same = (await isAnyRepeated(requests.length, requests.eachHash))
    ? (await planManifest(read(), { priceOf, areHashed: true, again })).same
    : new SameTally().result();
  const found = { columns: columns ?? [], rows, sample: sample.hashes, ahead: { newlySent: [] } };
  await saveKeptCheck(
    { disk, out, manifest, prices },
    { recovered: {} },
    { ...found, plan: { ...plan, ...(same && { same }) } },
  );
}

/**
 * Collects ids and finds repeated ones at the end, using the hashes that `CheckedRows` keeps anyway and the hashes of
 * lower-cased ids with capitals. An `IdBook` finds repeated ids at once and knows their lines, but takes 16 bytes per
 * row.
 */
class IdList implements IdKeeper {
  haveCapitals = false;
  readonly #folded = new FingerprintList();
  readonly #hash = new IdHash();
  /** For rows without an id, and for jobs. */
  readonly #book = new IdBook();

  claim(id: string): number {
    const folded = foldCase(id);
    if (folded === id) return 0;
    this.haveCapitals = true;
    const { high, low } = this.#hash.ofText(folded);
    this.#folded.add(high, low);
    return 0;
  }

  claimJob(...job: Parameters<IdKeeper['claimJob']>): number {
    return this.#book.claimJob(...job);
  }

  derive(hash: string, line: number): ReturnType<IdKeeper['derive']> {
    return this.#book.derive(hash, line);
  }

  /** Whether all ids differ in more than case. */
  async areUnlike(rows: CheckedRows): Promise<boolean> {
    if (!this.haveCapitals) return !(await isAnyRepeated(rows.length, rows.eachId));
    await rows.eachId((high, low) => this.#folded.add(high, low));
    return this.#folded.keepRepeated() === 0;
  }
}
