import type { RowProblem } from '../row.js';

/** Gathers everything that is wrong with one row. */
export class Problems {
  readonly found: RowProblem[] = [];

  add(column: string | undefined, message: string): void {
    this.found.push(column === undefined ? { message } : { column, message });
  }
}
