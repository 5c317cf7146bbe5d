import { lastValueFrom, merge, type Observable } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { DatabaseOfStart } from './elsewhere.js';
import type { IntentRecord, JournalRecord, OutcomeRecord, ReplyRecord, RunIdentity } from './record.js';
import type { RowStates } from './rows/row-states.js';
import type { AskedAxis } from '../manifest/matrix/asked-axes.js';
import type { PendingStatus, RowStatus } from '../row/row-status.js';
import type { RowBooks } from '../row/row-books.js';
import type { KeptTally, ReportedPrice, Totals, CostBy } from '../row/totals.js';

/** The journal of a run: all other files follow from it. `openJournal` keeps it in a file; a database can take its place. */
export interface Journal {
  /** The state that earlier starts left. Records of this start are not added to it. */
  readonly recovered: Recovered;
  /**
   * The first subscription queues the record. Every subscription emits the record's number in the journal (from 1)
   * once, when the record is durable. Unsubscribing does not remove the record. Records are kept in the order of
   * subscription. A record that cannot be written as JSON errors (`UnfitRecord`) and is not counted; later ones are
   * still written. After the first `JournalError` every later append errors as well.
   */
  append(record: JournalRecord): Observable<number>;
  /**
   * All durable records in order, up to the last one at the time of the call, in constant memory.
   *
   * @param after How many records to skip. @defaultValue 0
   */
  records(after?: number): AsyncIterable<JournalRecord>;
  /**
   * The rows that earlier starts left in one of these states, with their records, in the order in which they first
   * appeared, in constant memory.
   */
  rowsIn(statuses: readonly RowStatus[]): AsyncIterable<RowRecords>;
  /** The records of one row that earlier starts wrote. */
  find(id: string): Promise<RowRecords | undefined>;
  /** Waits for the queued records, then closes the file. Later appends error. */
  close(): Promise<void>;
}

/** The last records of one row. */
export interface RowRecords {
  readonly id: string;
  readonly status: RowStatus;
  /** Number of POSTs over all starts. */
  readonly attempts: number;
  /** Missing if the row never had one (an invalid row), or if it was lost and the journal was repaired. */
  readonly intent?: IntentRecord;
  readonly jobId?: string;
  /** When the job id of a purchase was journalled, in ms since the epoch. */
  readonly acceptedAt?: number;
  /** Missing also if only the picture of a purchase made elsewhere is fetched (`intent.takes`). */
  readonly reply?: ReplyRecord;
  readonly outcome?: OutcomeRecord;
}

/** A row that has not ended. */
export interface PendingRow extends RowRecords {
  readonly status: PendingStatus;
  readonly intent: IntentRecord;
  /** The amount reserved for it; `null` if no price is known. */
  readonly price: MicroDollars | null;
}

/** The state that earlier starts left. */
export interface Recovered {
  /** The identity of the latest start. */
  readonly identity?: RunIdentity | undefined;
  /** How many starts the run has had. */
  readonly starts: number;
  readonly firstStartAt?: number | undefined;
  readonly lastStartAt?: number | undefined;
  /** The end of the latest start; absent if it died. */
  readonly lastStop?: { readonly at: number; readonly exitCode: number } | undefined;
  /** The shared ledger of the latest start that used one. */
  readonly ledgerFile?: string | undefined;
  /** The database from which the rows of the latest start were done. */
  readonly database?: DatabaseOfStart | undefined;
  /** The cost cap that the run remembers, in US dollars; `null` if it was lifted. */
  readonly capUsd?: number | null | undefined;
  /** The columns by which the run adds up its money, and the caps of their values, as the run remembers them. */
  readonly costBy: CostBy;
  /** The values of each axis that starts asked for with `each` and `repeat`. */
  readonly axes: readonly AskedAxis[];
  /** The paths of outputs whose files are saved, as the run remembers them. */
  readonly saveOutput: readonly string[];
  /** Paths of the manifests of all starts, each once, in their order. */
  readonly manifests: readonly string[];
  readonly records: number;
  /** The largest row number in the journal. */
  readonly lastRow: number;
  readonly rows: RowStates;
  /** All jobs of rows; the running start adds its own. */
  readonly jobs: {
    /** Returns false if the job is known already. */
    add(endpoint: string, jobId: string): boolean;
  };
  /** Rows that have not ended, with accepted rows first. */
  readonly pending: ReadonlyMap<string, PendingRow>;
  readonly totals: Totals;
  /** The sums behind `totals`, for a tally that continues from them. */
  readonly tally: KeptTally;
  /** The tally's books of a row; `undefined` if the journal does not know the row. */
  booksOf(id: string): RowBooks | undefined;
  /** The highest prices reported so far; the price book gets them before anything is reserved. */
  readonly highestReported: readonly ReportedPrice[];
  /** Bytes of an unfinished record that the run was writing when it died; they are cut off. */
  readonly tornBytes: number;
  /** How often the journal was repaired. Files made before the latest repair may show records that have been lost since. */
  readonly repairs: number;
  /** Set once a repair has lost records: rows up to this number may have to be held. */
  readonly heldUpToRow?: number | undefined;
  /** Number of POSTs of the row over all starts. */
  attemptsOf(id: string): number;
  /**
   * Whether the row must be held as `unknown` instead of being bought: the journal was repaired, and a lost record may
   * have been this row's purchase. Call it before any purchase; an outcome or an intent since the repair makes it
   * false.
   */
  readonly mustHold: (id: string, row: number) => boolean;
  /**
   * Rows in doubt that the last start would have sent again, but it died before. Only in a run over a database: there such rows
   * wait until no other row is left.
   */
  readonly leftUnknown?: ReadonlySet<string> | undefined;
}

/** Appends these records in their order. Resolves when all of them are durable. */
export async function appendAll(
  journal: Pick<Journal, 'append'>,
  records: readonly JournalRecord[],
): Promise<void> {
  const appended = merge(...records.map((record) => journal.append(record)));
  await lastValueFrom(appended, { defaultValue: undefined });
}

/** The journal with these parts in place of its own. */
export function journalWith(journal: Journal, parts: Partial<Journal>): Journal {
  return {
    recovered: journal.recovered,
    append: (record) => journal.append(record),
    records: (after) => journal.records(after),
    rowsIn: (statuses) => journal.rowsIn(statuses),
    find: (id) => journal.find(id),
    close: () => journal.close(),
    ...parts,
  };
}

export function journalPath(folder: string): string {
  return `${folder}/journal.jsonl`;
}
