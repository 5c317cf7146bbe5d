import type { IntentRecord } from '../../journal/record.js';
import type { Journal } from '../../journal/journal.js';
import { isFieldName } from '../../manifest/columns/manifest-fields.js';
import type { ColumnUse, RowKind } from '../../manifest/manifest-row.js';
import { quoteValue } from '../../manifest/quote-value.js';

/** This many records are read at each end of a journal. */
const recordsRead = 2_000;

/**
 * Finds columns that this start sends although earlier starts treated them as the user's own, because this version of millrace
 * knows a name that an older one did not. Each kind is checked separately: a column that edits send may be the user's own on
 * jobs. Only records at both ends of the journal are read, so a rare key of a large JSONL manifest may be missed.
 */
export class NewlySent {
  readonly #own: Record<RowKind, Set<string>> = { edit: new Set(), job: new Set(), route: new Set() };
  readonly #found = new Set<string>();
  #last: ColumnUse | undefined;

  /** `undefined` if no earlier start had such columns. */
  static async after(
    journal: Pick<Journal, 'recovered' | 'records'> | undefined,
  ): Promise<NewlySent | undefined> {
    if (journal === undefined) return undefined;
    const columns = new NewlySent();
    const { records } = journal.recovered;
    await columns.#read(journal.records());
    if (records > recordsRead)
      await columns.#read(journal.records(Math.max(recordsRead, records - recordsRead)));
    return Object.values(columns.#own).some(({ size }) => size > 0) ? columns : undefined;
  }

  /** Call this for every valid row of the manifest. */
  see(use: ColumnUse): void {
    if (use === this.#last) return;
    this.#last = use;
    for (const name of use.sent) if (this.#own[use.kind].has(name)) this.#found.add(name);
  }

  names(): string[] {
    return [...this.#found];
  }

  async #read(records: AsyncIterable<{ readonly k: string }>): Promise<void> {
    let left = recordsRead;
    for await (const record of records) {
      if (record.k === 'intent') this.#note(record as IntentRecord);
      if (--left === 0) return;
    }
  }

  /** If a later row sent the name, it is no longer the user's own. */
  #note({ kind, request, cells, columns }: IntentRecord): void {
    for (const name of Object.keys(cells).filter(isFieldName))
      if (Object.hasOwn(columns, name) && !isSent(request, name)) this.#own[kind].add(name);
      else this.#own[kind].delete(name);
  }
}

/** Needed because the value of an axis that is a field is in `columns` too. */
function isSent(request: IntentRecord['request'], name: string): boolean {
  return Object.hasOwn(request.kind === 'edit' ? request.input : request, name);
}

/** One sentence for each such column. */
export function newlySentText(names: readonly string[]): string[] {
  return names.map((name) => {
    const column = quoteValue(name);
    return `column ${column} was your own in earlier starts of this run, and is sent now: this version understands it; rename it if it is still your own`;
  });
}
