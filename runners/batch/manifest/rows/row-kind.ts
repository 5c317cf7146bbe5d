import { quoteValue } from '../quote-value.js';
import type { RowKind } from '../row.js';
import type { RowCells } from './row-cells.js';

const kinds: readonly unknown[] = ['edit', 'job', 'route'] satisfies RowKind[];

/**
 * What a row is: by its `kind`, else as told for all rows, else by what it holds: `route`, then `images` or `prompt`,
 * then `input`.
 */
export function rowKind(
  cells: RowCells,
  told: RowKind | undefined,
): { readonly kind: RowKind } | { readonly problem: string } {
  const given = cells.get('kind');
  if (given !== undefined) {
    if (kinds.includes(given)) return { kind: given as RowKind };
    return { problem: `${quoteValue(given)} is not one of ${kinds.join(', ')}` };
  }
  const kind = told ?? kindByColumns(cells);
  return kind === undefined ? { problem: nothingToSend } : { kind };
}

function kindByColumns(cells: RowCells): RowKind | undefined {
  if (cells.get('route') !== undefined) return 'route';
  if (cells.get('images') !== undefined || cells.get('prompt') !== undefined) return 'edit';
  return cells.get('input') !== undefined || cells.hasPaths('input') ? 'job' : undefined;
}

const nothingToSend =
  'holds nothing to send: an edit has images and prompt, a job has input, a route call has route';
