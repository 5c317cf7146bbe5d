import fc from 'fast-check';
import * as z from 'zod';
import { editFieldNames, type EditFieldName } from '../../runners/batch/manifest/columns/manifest-fields.js';
import { imageEditInputSchema } from '../../src/contract/image-edit.js';

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const { properties } = z.toJSONSchema(imageEditInputSchema) as { properties: Record<string, JsonSchema> };

/** A value that the contract's schema passes, for each field of an edit: a new field has one without a change here. */
export const editSamples: Readonly<Record<EditFieldName, unknown>> = Object.fromEntries(
  editFieldNames.map((name) => [name, sampleOf(properties[name] ?? {})]),
) as Record<EditFieldName, unknown>;

/** A value as a cell of a CSV. */
export function cellText(value: unknown): string {
  const text = Array.isArray(value) ? value.join(' ') : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows with the same keys as a CSV. */
export function csvOf(...rows: readonly Readonly<Record<string, unknown>>[]): string {
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
  return lines.map((cells) => `${cells.map(cellText).join(',')}\n`).join('');
}

function sampleOf({ type, enum: values, pattern, minimum = 0, maximum = 7 }: JsonSchema): unknown {
  if (values !== undefined) return values.at(-1);
  if (type === 'array') return ['http://example.test/a.png', 'http://example.test/b.png'];
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return Math.max(minimum, Math.min(maximum, 7));
  const text = fc.stringMatching(new RegExp(pattern ?? '^make it [a-z]{3}$'));
  return fc.sample(text, { numRuns: 1, seed: 1 })[0];
}
