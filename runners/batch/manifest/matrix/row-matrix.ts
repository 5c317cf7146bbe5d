import type { ColumnLayout } from '../columns/column-layout.js';
import type { ManifestSettings } from '../manifest-settings.js';
import type { RowProblem } from '../manifest-row.js';
import { quoteValue } from '../quote-value.js';
import type { Product, RawRecord } from '../records/raw-record.js';
import { repeatColumn } from './asked-axes.js';
import { axesOf, type Axis } from './axes.js';

/** Repeats a line of the manifest for each combination of the axes' values. The last axis varies fastest. */
export class RowMatrix {
  readonly axes: readonly Axis[];
  readonly names: readonly string[];
  /** Sorted by name, so that ids do not depend on the order of the options; `repeat` comes last. */
  readonly #inIds: readonly Axis[];
  #last: { readonly before: readonly string[]; readonly names: readonly string[] } | undefined;

  constructor(axes: readonly Axis[]) {
    this.axes = axes;
    this.names = axes.map(({ name }) => name).filter((name) => name !== repeatColumn);
    const [repeats, named] = [
      axes.filter(({ name }) => name === repeatColumn),
      axes.filter(({ name }) => name !== repeatColumn),
    ];
    this.#inIds = [...named.sort((a, b) => (a.name < b.name ? -1 : 1)), ...repeats];
  }

  /** Returns `undefined` if no axis is given, so that each line is one row. @throws {ManifestError} */
  static of(settings: ManifestSettings): RowMatrix | undefined {
    const axes = axesOf(settings);
    return axes.length === 0 ? undefined : new RowMatrix(axes);
  }

  /** The rows of a line, each created when it is pulled. A line that was multiplied before, or that buys nothing, stays one row. */
  *expand(record: RawRecord, layout: ColumnLayout): Generator<RawRecord> {
    const isWhole = record.problem === undefined && !isOneRow(record, layout);
    const clash = isWhole ? this.#clash(record) : undefined;
    if (isWhole && clash === undefined) yield* this.#combinations(record);
    else yield clash === undefined ? record : { ...record, clash };
  }

  *#combinations(record: RawRecord): Generator<RawRecord> {
    const names = this.#namesOf(record.names);
    const places = this.axes.map(({ name }) => names.indexOf(name));
    const at = this.axes.map(() => 0);
    for (let index = 0; ; index++) {
      const values = [...record.values];
      this.axes.forEach(({ values: all }, axis) => {
        values[places[axis] ?? 0] = all[at[axis] ?? 0]?.cell;
      });
      yield { ...record, names, values, product: this.#product(at, index) };
      if (!this.#step(at)) return;
    }
  }

  /** Moves to the next combination. Returns false if there is none. */
  #step(at: number[]): boolean {
    for (let axis = at.length - 1; axis >= 0; axis--) {
      const next = (at[axis] ?? 0) + 1;
      at[axis] = next < (this.axes[axis]?.values.length ?? 0) ? next : 0;
      if (at[axis] !== 0) return true;
    }
    return false;
  }

  #product(at: readonly number[], index: number): Product {
    const values = new Map(this.axes.map((axis, place) => [axis, axis.values[at[place] ?? 0]]));
    const axes = Object.fromEntries([...values].map(([{ name }, value]) => [name, value?.text ?? '']));
    const suffix = this.#inIds.map((axis) => values.get(axis)?.suffix ?? '').join('');
    return { index, axes, suffix, repeat: Number(axes[repeatColumn] ?? 1) };
  }

  #clash({ names, values }: RawRecord): RowProblem | undefined {
    for (const { name } of this.axes) {
      const value = names.includes(name) ? values[names.indexOf(name)] : undefined;
      if (value === undefined || value === null || value === '') continue;
      const option = name === repeatColumn ? '--repeat' : `--each ${name}=…`;
      return {
        column: name,
        message: `holds ${quoteValue(value)}, and ${option} gives it too; empty the cell, or leave the option out`,
      };
    }
    return undefined;
  }

  /** Lines with the same names share one list. */
  #namesOf(before: readonly string[]): readonly string[] {
    if (this.#last?.before !== before) {
      const added = this.axes.map(({ name }) => name).filter((name) => !before.includes(name));
      this.#last = { before, names: [...before, ...added] };
    }
    return this.#last.names;
  }
}

/** Whether the line stays one row: it is from failures.jsonl or a redo manifest, or collects a job. */
function isOneRow({ names, values }: RawRecord, { at }: ColumnLayout): boolean {
  return [at.error, at.millrace, at.jobId, names.indexOf('redo')].some(
    (place) => place >= 0 && values[place] !== undefined && values[place] !== null && values[place] !== '',
  );
}
