import { quoteValue } from '../quote-value.js';
import { stripControls } from '../strip-controls.js';
import type { SameRows } from './same-requests.js';

/** A line for people for the first of the rows that ask for the same: `line 7 (id "b") asks for the same as line 3`. */
export function describeSame({ rows, first }: SameRows): string[] {
  const rest = rows - first.length;
  return [
    ...first.map(({ id, line, sameAsLine }) =>
      stripControls(`line ${line} (id ${quoteValue(id)}) asks for the same as line ${sameAsLine}`),
    ),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}
