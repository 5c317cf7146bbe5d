import type * as z from 'zod';
import {
  imageEditFields,
  imageEditInputSchema,
  type ImageEditInput,
} from '../../../../src/contract/image-edit.js';
import { editFieldNames, editFields, type EditFieldName } from '../columns/manifest-fields.js';
import { quoteValue } from '../quote-value.js';

export type EditInput = ImageEditInput & Record<string, unknown>;

export interface InputProblem {
  readonly field: string;
  /** `undefined` if the field is missing. */
  readonly message: string | undefined;
}

const verdictsKept = 1_000;

/** A value as it is sent; `undefined` if the schema refuses it. */
type Verdict = { readonly value: unknown } | undefined;

/**
 * Creates a check of edit inputs that agrees with the contract's schema and takes a tenth of its time. Most rows differ only in
 * images and prompt, which have fast checks of their own; each value of the other fields is checked once. Only an input that
 * fails here is checked by the whole schema, which reports the problems.
 */
export function editInputCheck(): (
  input: Record<string, unknown>,
) => { readonly input: EditInput } | { readonly problems: readonly InputProblem[] } {
  const byHand = editFieldNames.flatMap((field) => {
    const { passes } = editFields[field];
    return passes === undefined ? [] : [{ field, passes }];
  });
  const byVerdict = editFieldNames
    .filter((field) => editFields[field].passes === undefined)
    .map((field) => ({ field, judge: rememberingJudge(field) }));

  let loose: ReturnType<typeof imageEditInputSchema.loose> | undefined;
  const takePlain = (input: Record<string, unknown>): boolean => {
    for (const { field, passes } of byHand) if (!passes(input[field])) return false;
    for (const { field, judge } of byVerdict) {
      const given = input[field];
      if (given === undefined) continue;
      const verdict = judge(given);
      if (verdict === undefined) return false;
      input[field] = verdict.value;
    }
    return true;
  };
  return (input) => {
    if (takePlain(input)) return { input: input as EditInput };
    loose ??= imageEditInputSchema.loose();
    const result = loose.safeParse(input, { reportInput: true });
    return result.success ? { input: result.data } : { problems: result.error.issues.map(explain) };
  };
}

function rememberingJudge(field: EditFieldName): (value: unknown) => Verdict {
  const verdicts = new Map<unknown, Verdict>();
  let schema: (typeof imageEditFields)[EditFieldName] | undefined;
  return (given) => {
    if (verdicts.has(given)) return verdicts.get(given);
    schema ??= imageEditFields[field];
    const result = schema.safeParse(given);
    const verdict = result.success ? { value: result.data } : undefined;
    if (verdicts.size >= verdictsKept) verdicts.clear();
    verdicts.set(given, verdict);
    return verdict;
  };
}

function explain(issue: z.core.$ZodIssue): InputProblem {
  const [field = '', index] = issue.path;
  const which = typeof index === 'number' ? `image ${index + 1}: ` : '';
  return { field: String(field), message: isMissing(issue) ? undefined : which + reason(issue) };
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.input === undefined && issue.path.length === 1;
}

function reason(issue: z.core.$ZodIssue): string {
  const given = issue.input;
  if (issue.code === 'invalid_value') return `${quoteValue(given)} is not one of ${issue.values.join(', ')}`;
  if (issue.code === 'invalid_type') return wrongType(given, issue.expected);
  if (Array.isArray(given)) return `${issue.message} (got ${given.length})`;
  return issue.code === 'invalid_format'
    ? `${quoteValue(given)} ${issue.message}${timeHint(given)}`
    : issue.message;
}

/** A spreadsheet reads `16:9` as a time, and writes `16:09` or `16:09:00`. */
function timeHint(given: unknown): string {
  const isTime = typeof given === 'string' && /^\d\d?:\d\d(?::\d\d)?(?: [ap]m)?$/i.test(given);
  return isTime ? '; a spreadsheet has made a time of it: format the column as text, and write it again' : '';
}

function wrongType(given: unknown, expected: string): string {
  if (expected === 'boolean') return `${quoteValue(given)} is not one of true, false`;
  const name = expected === 'string' ? 'text' : expected === 'array' ? 'a list' : `a ${expected}`;
  return `${quoteValue(given)} is not ${name}`;
}
