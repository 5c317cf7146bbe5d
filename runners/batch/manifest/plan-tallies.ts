import { addPrice, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { fieldNames } from './columns/manifest-fields.js';
import { nearMiss } from './columns/near-miss.js';
import { countOf, quoteValue, stripControls } from './quote-value.js';
import type { CellNote, ColumnUse, Damage, Row, RowProduct } from './manifest-row.js';
import { saveAgain } from './records/text-guard.js';

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
    for (const name of names) keep(this.#own, name);
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

/** Counts cells that look damaged, and words the warnings about them. */
export class NoteTally {
  readonly #found = new Map<Damage, { rows: number; last: number; first: CellNote & Place }>();

  add({ row, line, id, notes = [] }: Row): void {
    for (const note of notes) {
      const found = this.#found.get(note.damage);
      if (found === undefined) {
        this.#found.set(note.damage, { rows: 1, last: row, first: { ...note, row, line, id } });
        continue;
      }
      if (found.last !== row) found.rows++;
      found.last = row;
      if (row < found.first.row) found.first = { ...note, row, line, id };
    }
  }

  /** One sentence for each kind of damage. */
  result(): string[] {
    return [...this.#found].map(([damage, { rows, first }]) => {
      const [what, advice] = damageTexts[damage];
      const { line, row, id, column, text } = first;
      const where = `${rows === 1 ? 'in' : 'first in'} line ${line} (row ${row}, id ${quoteValue(id)}), column ${column}`;
      return stripControls(
        `${countOf(rows, 'row has', 'rows have')} ${what}, ${where}: ${quoteValue(text)}; ${advice(column)}`,
      );
    });
  }
}

type Place = Pick<Row, 'row' | 'line' | 'id'>;

/** What is said of each kind, and what to do. */
const damageTexts: Readonly<Record<Damage, readonly [what: string, advice: (column: string) => string]>> = {
  encoding: [
    'text with garbled or lost characters',
    () => `it was probably saved in one encoding and opened in another: ${saveAgain}`,
  ],
  formula: [
    'what looks like a formula of a spreadsheet, and not its value',
    () =>
      'export values (Excel: Formulas > Show Formulas off; LibreOffice: without "Save cell formulas instead of calculated values"), unless you mean this text',
  ],
  escaped: [
    'an apostrophe before what looks like a formula, as results.csv writes it',
    () => 'it is sent as it stands: remove the apostrophe, unless you mean it',
  ],
  rounded: [
    'an id that looks like a long number which a spreadsheet has rounded',
    () =>
      'format its column as text in the spreadsheet, and enter or import the numbers anew; other rows may get the same id',
  ],
  zero: [
    'only 0 as its prompt',
    () => 'a formula gives that for an empty cell; fill the cell, or take the row out',
  ],
  typed: [
    'a number or truth value as a spreadsheet shows it, which is sent as text',
    (column) =>
      `write numbers as 0.5 and truth values as true or false, or rename the column to ${column}:text if you mean text`,
  ],
};

function keep(names: Set<string>, name: string): void {
  if (names.size < columnsKept) names.add(name);
}

/** The rows that the axes make from those of a manifest. */
export interface PlannedMatrix {
  /** Number of lines that are multiplied. */
  readonly sources: number;
  /** Number of rows that they become. */
  readonly rows: number;
  /** Number of lines that stay one row: lines of failures.jsonl, rows to be redone, and rows that collect a job. */
  readonly alone: number;
  readonly axes: readonly PlannedAxis[];
}

export interface PlannedAxis {
  readonly name: string;
  /** In the order in which they first occur. */
  readonly values: readonly PlannedValue[];
}

export interface PlannedValue {
  readonly value: string;
  readonly rows: number;
  /** The sum of the known prices of `rows`. */
  readonly estimated: MicroDollars;
  /** The part of `rows` to be bought at an unknown price. */
  readonly unpriced: number;
}

type Counted = { -readonly [Name in keyof PlannedValue]: PlannedValue[Name] };

/** Counts and prices the rows that axes have made, by the axes' values. */
export class AxisTally {
  readonly #axes = new Map<string, Map<string, Counted>>();
  #sources = 0;
  #rows = 0;
  #lastLine = 0;

  add({ axes }: RowProduct, line: number, price: MicroDollars | null): void {
    if (line !== this.#lastLine) this.#sources++;
    this.#lastLine = line;
    this.#rows++;
    for (const name in axes) {
      const counted = this.#counted(name, axes[name] ?? '');
      counted.rows++;
      addPrice(counted, price);
    }
  }

  /** Returns `undefined` if no row is multiplied. @param rows number of valid rows of the manifest */
  result(rows: number): PlannedMatrix | undefined {
    if (this.#rows === 0) return undefined;
    const axes = [...this.#axes].map(([name, values]) => ({ name, values: [...values.values()] }));
    return { sources: this.#sources, rows: this.#rows, alone: rows - this.#rows, axes };
  }

  #counted(name: string, value: string): Counted {
    const values = this.#axes.get(name) ?? new Map<string, Counted>();
    this.#axes.set(name, values);
    const counted = values.get(value) ?? { value, rows: 0, estimated: 0, unpriced: 0 };
    values.set(value, counted);
    return counted;
  }
}
