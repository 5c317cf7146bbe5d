import { fieldNames } from './manifest-fields.js';
import { nearMiss } from './near-miss.js';
import { quoteValue, stripControls } from '../quote-value.js';
import type { ColumnUse } from '../manifest-row.js';

/** A plan lists at most this many columns, because every line of JSONL may have other keys. */
const columnsKept = 1_000;

/** Collects which columns of a manifest are sent, and which others look as if they were meant to be. */
export class ColumnTally {
  readonly #sent = new Set<string>();
  readonly #own = new Set<string>();
  readonly #filledIn = new Set<string>();
  readonly #warnings = new Set<string>();
  #last: ColumnUse | undefined;
  #lastOwn: readonly string[] | undefined;

  add(use: ColumnUse): void {
    if (use === this.#last) return;
    this.#last = use;
    for (const name of use.sent) keep(this.#sent, name);
    this.addOwn(use.own);
    for (const name of use.filledIn ?? []) keep(this.#filledIn, name);
    for (const name of use.misplaced) {
      keep(this.#own, name);
      keep(this.#warnings, misplaced(name, use.kind));
    }
  }

  /** Adds the user's own columns of a row, even if it is invalid: the reason may be a misspelt column. */
  addOwn(names: readonly string[]): void {
    if (names === this.#lastOwn) return;
    this.#lastOwn = names;
    for (const name of names) {
      keep(this.#own, name);
    }
  }

  result(): {
    readonly columnsSent: string[];
    readonly columnsNotSent: string[];
    readonly columnsFilledIn?: string[];
    readonly warnings: string[];
  } {
    const misspelt = [...this.#own].filter((name) => !this.#filledIn.has(name)).flatMap(misspeltText);
    return {
      columnsSent: [...this.#sent],
      columnsNotSent: [...this.#own].filter((name) => !this.#sent.has(name)),
      ...(this.#filledIn.size > 0 && { columnsFilledIn: [...this.#filledIn] }),
      warnings: [...misspelt, ...this.#warnings].map(stripControls),
    };
  }
}

function misspeltText(name: string): string[] {
  const meant = nearMiss(name, fieldNames);
  return meant === undefined
    ? []
    : [`column ${quoteValue(name)} is not sent; did you mean ${quoteValue(meant)}?`];
}

function misplaced(name: string, kind: ColumnUse['kind']): string {
  const column = `column ${quoteValue(name)} is filled on rows of kind ${kind}, which do not send it`;
  if (kind === 'job' && !name.includes('.')) return `${column}; did you mean ${quoteValue(`input.${name}`)}?`;
  if (kind === 'route' && name === 'endpoint') return `${column}: they go to the load-balanced host`;
  return column;
}

function keep(names: Set<string>, name: string): void {
  if (names.size < columnsKept) names.add(name);
}
