import { h } from '../dom.js';

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** Choices of one group stand together under its name. */
  readonly group?: string;
}

export interface Picker {
  readonly element: HTMLElement;
  set(value: string): void;
}

/** A list to choose from; what it holds is read when somebody first touches it, since it needs the columns of all rows. */
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
    // A list that is open must not be replaced without need.
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
