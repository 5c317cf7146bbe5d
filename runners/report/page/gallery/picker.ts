import { h } from '../dom.js';
import { formatCount } from '../../messages/format-amounts.js';
import { visibleText } from '../../messages/escape-html.js';
import type { RowFacets } from '../rows/row-facets.js';
import { queryTerm } from './query-rows.js';

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** Choices with the same group are listed under its name. */
  readonly group?: string;
}

export interface Picker {
  readonly element: HTMLElement;
  set(value: string): void;
}

/** A drop-down list. Its choices are loaded on first use, because they need the columns of all rows. */
export function picker(
  label: string,
  first: string,
  read: () => Promise<readonly Choice[]>,
  choose: (value: string) => void,
): Picker {
  const none = h('option', { value: '' }, first);
  const select = h('select', { 'aria-label': label, onchange: () => choose(select.value) }, none);
  let wanted = '';
  let shown = '';
  const fill = async (): Promise<void> => {
    const choices = await read();
    // An open list is replaced only when needed.
    if (shown === (shown = JSON.stringify(choices))) return;
    if (choices.length === 0) none.textContent = `${first}: none`;
    select.replaceChildren(none, ...optionsOf(choices));
    select.value = wanted;
  };
  for (const event of ['pointerenter', 'focus']) select.addEventListener(event, () => void fill());
  return {
    element: select,
    set(value) {
      wanted = value;
      if (value !== '' && shown === '') void fill();
      else select.value = value;
    },
  };
}

function optionsOf(choices: readonly Choice[]): HTMLElement[] {
  const groups = new Map<string, HTMLElement[]>();
  for (const { value, label, group = '' } of choices) {
    const options = groups.get(group) ?? [];
    options.push(h('option', { value }, label));
    groups.set(group, options);
  }
  return [...groups].flatMap(([group, options]) =>
    group === '' ? options : [h('optgroup', { label: group }, ...options)],
  );
}

const shown = 48;

/** The choices of the toolbar's lists for the columns of a run. */
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

/** An `option` element holds only text, which `dom.ts` does not draw. */
function short(text: string): string {
  const visible = visibleText(text);
  return visible.length > shown ? `${visible.slice(0, shown)}…` : visible;
}
