import { isEditField, sentFields } from '../columns/manifest-fields.js';
import type { RowKind } from '../manifest-row.js';

/**
 * The cells of a row that sends this request: the way back, in the values of JSON. What an edit's input has beside its own
 * fields stands in one object under `input`, as it does in a manifest: in columns of their own, texts could become numbers.
 */
export function requestCells(kind: RowKind, request: object): Record<string, unknown> {
  const sent = request as Readonly<Record<string, unknown>>;
  if (kind !== 'edit')
    return Object.fromEntries(
      sentFields[kind].flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name]]])),
    );
  const { input } = sent;
  const entries = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const others = entries.filter(([name]) => !isEditField(name));
  return {
    ...Object.fromEntries(entries.filter(([name]) => isEditField(name))),
    ...(others.length > 0 && { input: Object.fromEntries(others) }),
  };
}
