import type { RowStates } from '../../journal/rows/row-states.js';
import type { Row } from '../../manifest/manifest-row.js';
import { SameTally, type SameRows } from '../../manifest/duplicates/same-requests.js';
import { decideRow, type DecisionRules } from '../../row/decide-row.js';
import type { ResolvedOptions } from '../../context/resolve-options.js';
import { SelectRows } from '../../tasks/select-rows.js';

/** Which of the rows that ask for the same this start would send. It decides on each row once more, as the first pass did. */
export class SameAhead {
  readonly #tally = new SameTally();
  readonly #select: SelectRows;

  constructor(
    private readonly options: ResolvedOptions,
    private readonly known: { readonly rows: Pick<RowStates, 'get'> },
    private readonly rules: DecisionRules,
  ) {
    this.#select = new SelectRows(options);
  }

  /** Every valid row, in order. @param sameAsLine the first row that asks for the same; 0: none does */
  see(row: Row, sameAsLine: number): void {
    const { what } = decideRow(row, this.known.rows.get(row.id), this.rules);
    if (what === 'leave' || what === 'pending' || !this.#select.takes(row.id)) return;
    if (what === 'send' && sameAsLine > 0) this.#tally.add(row, sameAsLine, this.options.prices.priceOf(row));
  }

  told(): SameRows {
    return this.#tally.result();
  }
}
