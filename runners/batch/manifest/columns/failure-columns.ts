import { fieldsWith } from './manifest-fields.js';

/** The fields of failures.jsonl that hold facts about a failure: `error` and `millrace`. In failures.csv each fact is a column. */
export const factParents = fieldsWith('failure');

/** Ignores case: `Millrace.jobId` means the same. */
export function isBelow(parent: string, name: string): boolean {
  return name.toLowerCase().startsWith(`${parent}.`);
}

/** Whether a column of failures.csv is read as a fact: `error.code`, `millrace.jobId`. */
export function isFactName(name: string): boolean {
  return factParents.some((parent) => isBelow(parent, name));
}

/** Stands before the name of a user's column in a spreadsheet that has a column of that name already. */
export const ownPrefix = 'columns.';

/** The name in failures.csv of one of the manifest's columns: `columns.error.code` for a column `error.code` of the user's own. */
export function nameInFailures(column: string): string {
  return isTaken(column) ? ownPrefix + column : column;
}

/** The manifest's column of this name in failures.csv. */
export function ownColumnOf(name: string): string {
  return name.startsWith(ownPrefix) && isTaken(name) ? name.slice(ownPrefix.length) : name;
}

/** Also true for `columns.error.code`, which would lose its prefix otherwise. */
function isTaken(name: string): boolean {
  return isFactName(name.replace(/^(columns\.)+/, ''));
}
