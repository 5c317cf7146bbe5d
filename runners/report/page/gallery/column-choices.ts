import { formatCount } from '../../messages/format-amounts.js';
import { visibleText } from '../../messages/escape-html.js';
import type { RowFacets } from '../rows/row-facets.js';
import type { Choice } from './picker.js';
import { queryTerm } from './query-rows.js';

const shown = 48;

/** What the pickers of the toolbar offer for the columns of a run. */
export function columnChoices(
  facets: RowFacets,
  axesOfRun: readonly string[],
): { terms: Choice[]; sorts: Choice[]; axes: Choice[] } {
  const columns = inFront(facets.columns(), axesOfRun);
  return {
    terms: columns.flatMap(({ name, values }) =>
      values.map(({ value, count }) => ({
        value: queryTerm(name, value),
        label: `${short(value)} (${formatCount(count)})`,
        group: short(name),
      })),
    ),
    sorts: [
      { value: '-ended', label: 'Latest first' },
      { value: '-price', label: 'Highest price first' },
      { value: 'price', label: 'Lowest price first' },
      { value: 'time', label: 'Fastest first' },
      { value: '-time', label: 'Slowest first' },
      { value: '-stars', label: 'Most stars first' },
      ...columns.map(({ name }) => ({ value: name, label: short(name), group: 'By column' })),
    ],
    axes: facets.axes(axesOfRun).map((name) => ({
      value: name,
      label: short(name),
      ...(axesOfRun.length > 0 && { group: axesOfRun.includes(name) ? 'Axes of the run' : 'Other columns' }),
    })),
  };
}

function inFront<C extends { readonly name: string }>(columns: readonly C[], names: readonly string[]): C[] {
  const isFirst = ({ name }: C): boolean => names.includes(name);
  return [...columns.filter(isFirst), ...columns.filter((column) => !isFirst(column))];
}

/** A choice in a list is a text that the page's own functions do not draw. */
function short(text: string): string {
  const visible = visibleText(text);
  return visible.length > shown ? `${visible.slice(0, shown)}…` : visible;
}
