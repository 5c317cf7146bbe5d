import { pathsInForce } from '../artifacts/output-path.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import { Projections } from '../sinks/projections.js';
import { filesColumn, ownColumn, requestColumns } from '../sinks/result-line.js';
import type { SheetColumns } from '../sinks/run-files.js';
import { readSummary } from '../sinks/summary-file.js';
import type { Checked } from './check/check-manifest.js';
import type { HeldJournal, Opening } from './hold-journal.js';

/** A start has to write lines for more records than this only after a crash, or if files are missing. */
const fewRecords = 10_000;

/** Opens the files that follow from the journal. `beforeRows` is called first if many lines have to be written. */
export async function openProjections(
  { options, closers }: Opening,
  checked: Checked,
  { journal, beforeRows }: { readonly journal: HeldJournal; readonly beforeRows?: (() => void) | undefined },
): Promise<Projections> {
  const { disk, out: folder } = options;
  const covered = (await readSummary(disk, folder))?.covers;
  if (journal.recovered.records - (covered?.records ?? 0) > fewRecords) beforeRows?.();
  const sheets = sheetsOf(options, checked, pathsInForce(options, journal.recovered).length > 0);
  const projections = await Projections.open({ disk, folder, journal, covered, sheets });
  closers.push(() => projections.close());
  return projections;
}

/** The columns of the spreadsheets; `undefined` if the manifest is not a CSV file, because then this start begins none. */
function sheetsOf(
  { manifest }: Pick<ResolvedOptions, 'manifest'>,
  { plan, columns }: Pick<Checked, 'plan' | 'columns'>,
  savesFiles: boolean,
): SheetColumns | undefined {
  if (manifest.settings.format !== 'csv') return undefined;
  const kinds = (['edit', 'job', 'route'] as const).filter((kind) => plan.byKind[kind] > 0);
  const results = [
    ...kinds.flatMap((kind) => requestColumns[kind]),
    ...(savesFiles ? [filesColumn] : []),
    ...plan.columnsNotSent.map(ownColumn),
  ];
  return { results, failures: [...columns, ...plan.columnsSent, ...plan.columnsNotSent] };
}
