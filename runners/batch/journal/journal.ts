import type { Observable } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { DatabaseOfStart } from './elsewhere.js';
import type { IntentRecord, JournalRecord, OutcomeRecord, ReplyRecord, RunIdentity } from './record.js';
import type { RowStates } from './rows/row-states.js';
import type { AskedAxis } from '../manifest/matrix/asked-axes.js';
import type { PendingStatus, RowStatus } from '../row/row-status.js';
import type { RowBooks } from '../row/row-books.js';
import type { KeptTally, ReportedPrice, Totals, CostBy } from '../row/totals.js';

/** The one truth of a run. `openJournal` keeps it in a file; a database can take its place. */
export interface Journal {
  /** The state that earlier starts left. It stays as it was read: records of this start are not added. */
  readonly recovered: Recovered;
  /**
   * The first subscription queues the record. Every subscription emits the record's number in the journal (from 1), once,
   * when the record is durable. Unsubscribing takes nothing back. Records are kept in the order of subscription. A record
   * that cannot be written as JSON errors (`UnfitRecord`) and is not counted; later ones go on. After the first
   * `JournalError` every later append errors as well.
   */
  append(record: JournalRecord): Observable<number>;
  /**
   * All durable records in order, up to the last one at the time of the call. Flat memory.
   *
   * @param after How many records to skip. @defaultValue 0
   */
  records(after?: number): AsyncIterable<JournalRecord>;
  /** The rows that earlier starts left in one of these states, with their records. Flat memory; in the order in which they were first sent. */
  rowsIn(statuses: readonly RowStatus[]): AsyncIterable<RowRecords>;
  /** The records of one row that earlier starts wrote. */
  find(id: string): Promise<RowRecords | undefined>;
  /** Waits for what is queued, then closes the file. Later appends error. */
  close(): Promise<void>;
}

/** The last records of one row. */
export interface RowRecords {
  readonly id: string;
  readonly status: RowStatus;
  /** POSTs over all starts. */
  readonly attempts: number;
  /** Missing where the row never had one (an invalid row), or where it was lost and the journal repaired. */
  readonly intent?: IntentRecord;
  readonly jobId?: string;
  /** When the id of a purchase was journalled, in ms since the epoch. */
  readonly acceptedAt?: number;
  /** Also missing where the picture of a purchase made elsewhere is fetched (`intent.takes`). */
  readonly reply?: ReplyRecord;
  readonly outcome?: OutcomeRecord;
}

/** A row that has not ended. */
export interface PendingRow extends RowRecords {
  readonly status: PendingStatus;
  readonly intent: IntentRecord;
  /** The amount reserved for it; `null`: no price is known. */
  readonly price: MicroDollars | null;
}

/** What earlier starts left. */
export interface Recovered {
  /** Of the latest start. */
  readonly identity?: RunIdentity | undefined;
  /** How many starts the run has had. */
  readonly starts: number;
  readonly firstStartAt?: number | undefined;
  readonly lastStartAt?: number | undefined;
  /** End of the latest start; absent when that one died. */
  readonly lastStop?: { readonly at: number; readonly exitCode: number } | undefined;
  /** The ledger that runs share, of the latest start that had a part in one. */
  readonly ledgerFile?: string | undefined;
  /** The database that the rows of the latest start were done from. */
  readonly database?: DatabaseOfStart | undefined;
  /** The cost cap that the run remembers, in USD; `null`: it was lifted. */
  readonly capUsd?: number | null | undefined;
  /** By which columns the run adds up its money, and what no value of them may cost, as it remembers it. */
  readonly costBy: CostBy;
  /** The values of each axis that starts asked for by `each` and `repeat`. */
  readonly axes: readonly AskedAxis[];
  /** The paths of outputs whose files are saved, as the run remembers them. */
  readonly saveOutput: readonly string[];
  /** Paths of the manifests that starts were made from, each once, in their order. */
  readonly manifests: readonly string[];
  readonly records: number;
  /** Largest row number seen. */
  readonly lastRow: number;
  readonly rows: RowStates;
  /** All jobs that rows had; a start adds its own. */
  readonly jobs: {
    /** False where the job is known. */
    add(endpoint: string, jobId: string): boolean;
  };
  /** Rows that have not ended, those accepted first in front. */
  readonly pending: ReadonlyMap<string, PendingRow>;
  readonly totals: Totals;
  /** The sums behind `totals`, for a tally that continues from them. */
  readonly tally: KeptTally;
  /** What the tally knows of a row; `undefined` where the journal does not know the row. */
  booksOf(id: string): RowBooks | undefined;
  /** The highest prices reported so far: the price book gets them before anything is reserved. */
  readonly highestReported: readonly ReportedPrice[];
  /** Bytes of a record that was not finished when the run died; cut off. */
  readonly tornBytes: number;
  /** How often it was repaired. Files made before the latest repair may show records that are lost since. */
  readonly repairs: number;
  /** Set once a repair has lost records. */
  readonly heldUpToRow?: number | undefined;
  /** POSTs of the row over all starts. */
  attemptsOf(id: string): number;
  /**
   * Whether the row must be held as `unknown` instead of being bought: the journal was repaired, and a lost record may
   * have been this row's purchase. Ask before any purchase; an outcome or an intent since the repair settles it.
   */
  readonly mustHold: (id: string, row: number) => boolean;
}

/** The journal's place in a run's folder. */
export function journalPath(folder: string): string {
  return `${folder}/journal.jsonl`;
}
