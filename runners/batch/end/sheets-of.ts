import { ownColumn, requestColumns } from '../sinks/result-line.js';
import type { SheetColumns } from '../sinks/run-files.js';
import type { Checked } from '../start/check/check-manifest.js';
import type { ResolvedOptions } from '../context/resolve-options.js';

/** The columns of the spreadsheets; `undefined` where the manifest is no CSV, and none are written. */
export function sheetsOf(
  { manifest }: Pick<ResolvedOptions, 'manifest'>,
  { plan, columns }: Pick<Checked, 'plan' | 'columns'>,
): SheetColumns | undefined {
  if (manifest.settings.format !== 'csv') return undefined;
  const kinds = (['edit', 'job', 'route'] as const).filter((kind) => plan.byKind[kind] > 0);
  const results = [...kinds.flatMap((kind) => requestColumns[kind]), ...plan.columnsNotSent.map(ownColumn)];
  return { results, failures: [...columns, ...plan.columnsSent, ...plan.columnsNotSent] };
}
