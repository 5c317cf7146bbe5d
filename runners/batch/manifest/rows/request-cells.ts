import { isEditField, sentFields } from '../columns/manifest-fields.js';
import type { RowKind } from '../manifest-row.js';

/**
 * The cells of a row that sends this request, as JSON values: the way back from a request to a manifest. What an edit's input
 * has besides its known fields stays in one object under `input`: in columns of their own, texts could become numbers.
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
