import type { ColumnLayout, PurposeColumns } from '../columns/column-layout.js';
import type { RowProblem, RowProduct } from '../manifest-row.js';
import { repeatColumn } from '../matrix/asked-axes.js';
import type { Product } from '../records/raw-record.js';
import { quoteValue } from '../quote-value.js';
import { rowId } from './row-head.js';

type FoundId = ReturnType<typeof rowId>;

/** The id of one of the rows of a line: the line's own id, and what the axes add to it. */
export function productId(found: FoundId, product: Product): FoundId {
  if ('problem' in found || found.id === undefined) return found;
  const whole = rowId(found.id + product.suffix);
  return 'problem' in whole ? { problem: `${quoteValue(found.id)} with its axes ${whole.problem}` } : whole;
}

/** @param found the id of the line itself */
export function rowProduct({ index, axes, repeat }: Product, found: FoundId): RowProduct {
  return { ...('id' in found && found.id !== undefined && { source: found.id }), index, axes, repeat };
}

/**
 * The axes that make no difference to what a row sends: it would be bought once for each of their values.
 *
 * @param columns `used`: those that `--set` has asked for
 */
export function unusedAxes(
  { axes }: Product,
  columns: Pick<PurposeColumns, 'foreign'> & {
    readonly layout: ColumnLayout;
    readonly used: ReadonlySet<string>;
  },
): RowProblem[] {
  const { layout, foreign, used } = columns;
  return Object.keys(axes).flatMap((name) => {
    const at = layout.names.indexOf(name);
    const isSent = ![...layout.own, ...foreign].some((column) => column.at === at);
    if (isSent || used.has(name) || name === repeatColumn) return [];
    const message = `nothing that this row sends depends on it, so that each of its values would buy the same: write {{${name}}} in a --set of a field that the row has not itself, or use --repeat`;
    return [{ column: `--each ${name}`, message }];
  });
}
