import type { RawRecord } from '../records/raw-record.js';
import { unescapeFormulas } from './unescape-formulas.js';

const parents = ['error', 'millrace'] as const;

/** Where the columns of a CSV stand that together are what a failure says of itself. */
interface Folding {
  readonly names: readonly string[];
  /** Places of the other columns. */
  readonly kept: readonly number[];
  readonly parts: readonly (readonly { readonly at: number; readonly name: string }[])[];
}

/**
 * Reads the columns `error.code`, `millrace.jobId` and so on of failures.csv as failures.jsonl has them: as `error` and
 * `millrace`. Taken for the user's own columns, they would not keep a row that was paid from being bought again.
 */
export class FailureColumns {
  #lastNames: readonly string[] | undefined;
  #folding: Folding | undefined;

  fold(record: RawRecord): RawRecord {
    if (record.names !== this.#lastNames) {
      this.#lastNames = record.names;
      this.#folding = isOfFailures(record.names) ? foldingOf(record.names) : undefined;
    }
    const folding = this.#folding;
    if (folding === undefined || record.problem !== undefined) return record;
    const { names, kept, parts } = folding;
    const values = kept.map((at) => record.values[at]);
    return { ...record, names, values: [...values, ...parts.map((part) => together(part, record.values))] };
  }
}

/** `error.code` alone may well be the user's own; nobody else calls a column `millrace.…`. */
function isOfFailures(names: readonly string[]): boolean {
  if (parents.some((parent) => names.includes(parent))) return false;
  const lower = names.map((name) => name.toLowerCase());
  const hasError = lower.includes('error.code') && lower.includes('error.paid');
  return hasError || lower.some((name) => isBelow('millrace', name));
}

/** In any case of letters: somebody who writes `Millrace.jobId` means the same. */
function isBelow(parent: string, name: string): boolean {
  return name.toLowerCase().startsWith(`${parent}.`);
}

function foldingOf(names: readonly string[]): Folding {
  const isPart = (name: string): boolean => parents.some((parent) => isBelow(parent, name));
  const places = names.map((name, at) => ({ name, at }));
  const kept = places.filter(({ name }) => !isPart(name));
  const parts = parents.map((parent) =>
    places
      .filter(({ name }) => isBelow(parent, name))
      .map(({ name, at }) => ({ name: name.slice(parent.length + 1), at })),
  );
  return { names: [...kept.map(({ name }) => name), ...parents], kept: kept.map(({ at }) => at), parts };
}

/** As JSON; empty where every cell is: a row that was written below the failures is one like any other. */
function together(part: Folding['parts'][number], values: readonly unknown[]): string {
  const cells = unescapeFormulas(part.map(({ at }) => values[at]));
  const filled = part.flatMap(({ name }, at) =>
    cells[at] === '' || cells[at] === undefined ? [] : [[name, cells[at]] as const],
  );
  return filled.length === 0 ? '' : JSON.stringify(Object.fromEntries(filled));
}
