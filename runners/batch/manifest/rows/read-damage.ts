import { damageOf, errorValueProblem, garbledAt, mayBeDamaged } from '../columns/damaged-text.js';
import type { CellNote, Damage } from '../manifest-row.js';
import type { PriorFailure } from './prior-failure.js';
import type { Problems, RowCells } from './row-cells.js';

/** What is known about the row. */
interface DamageContext {
  readonly isCsv: boolean;
  /** Names of the columns that the row sends; `undefined` if the row has problems already, and any may be the cause. */
  readonly sent: readonly string[] | undefined;
  /** Columns that filled texts of `--set`. */
  readonly used: ReadonlySet<string>;
  readonly prior: PriorFailure | undefined;
}

/**
 * Looks for what a spreadsheet or a wrong encoding has done to the cells that a row sends. A cell of a CSV that is an error value
 * is a problem; what a person may mean is a note. Values of JSONL are meant, and so are those of a row that buys nothing more.
 */
export function readDamage(
  cells: RowCells,
  problems: Problems,
  { isCsv, sent, used, prior }: DamageContext,
): readonly CellNote[] | undefined {
  if (prior !== undefined && prior.failure.paid !== 'no') return undefined;
  let notes: CellNote[] | undefined;
  const { read, own } = cells.layout;
  for (const column of read) {
    // A row with a damaged field of another kind has a problem already.
    if (sent !== undefined && !column.isFree) continue;
    const { name, at, isIdentity } = column;
    const value = cells.raw(at);
    if (!mayBeDamaged(value, column)) continue;
    const problem = isCsv ? errorValueProblem(value) : undefined;
    const damage = damageOf(value, isCsv ? column : { ...column, isTyped: false });
    if (problem === undefined && damage === undefined) continue;
    if (sent !== undefined && !isIdentity && !sent.includes(name)) continue;
    if (problem !== undefined) problems.replace(name, problem);
    else if (damage !== undefined) (notes ??= []).push(noteOf(name, value, damage));
  }
  if (used.size > 0)
    for (const { name, at } of own) {
      const damage = used.has(name) ? damageOf(cells.raw(at), filling) : undefined;
      if (damage !== undefined) (notes ??= []).push(noteOf(name, cells.raw(at), damage));
    }
  return notes;
}

const filling = { isIdentity: false, isTyped: false, isPrompt: false };
const before = 20;
const shown = 50;

function noteOf(column: string, value: unknown, damage: Damage): CellNote {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const from = Math.max(0, garbledAt(text) - before);
  return { column, damage, text: `${from > 0 ? '…' : ''}${text.slice(from, from + shown)}` };
}
