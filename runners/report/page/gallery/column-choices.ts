import { formatCount } from '../../messages/format-amounts.js';
import { visibleText } from '../../messages/escape-html.js';
import type { RowFacets } from '../rows/row-facets.js';
import type { Choice } from './picker.js';
import { queryTerm } from './query-rows.js';

const shown = 48;

/** What the pickers of the toolbar offer for the columns of a run. */
export function columnChoices(facets: RowFacets): { terms: Choice[]; sorts: Choice[]; axes: Choice[] } {
  const columns = facets.columns();
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
      { value: '-time', label: 'Slowest first' },
      { value: '-stars', label: 'Most stars first' },
      ...columns.map(({ name }) => ({ value: name, label: short(name), group: 'By column' })),
    ],
    axes: facets.axes().map((name) => ({ value: name, label: short(name) })),
  };
}

/** A choice in a list is a text that the page's own functions do not draw. */
function short(text: string): string {
  const visible = visibleText(text);
  return visible.length > shown ? `${visible.slice(0, shown)}…` : visible;
}
