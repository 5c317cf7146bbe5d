import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { BoughtRows, SameRows } from '../../manifest/duplicates/same-requests.js';
import type { AxesChange } from '../../manifest/matrix/asked-axes.js';
import type { ColumnAhead } from '../money/value-survey.js';
import type { CapInForce } from '../money/cap-in-force.js';

/** What a start would do, by the manifest and by what earlier starts left. */
export interface Ahead {
  /** Rows of the manifest, the invalid ones that become failures among them. */
  readonly rows: number;
  /** Of them: ended before, and left alone. */
  readonly ended: number;
  /** Rows of earlier starts that are not in the manifest: another one, rows that were removed, or whose derived id is another since they changed. */
  readonly gone: number;
  /** Rows that are sent, those that failed before among them. */
  readonly toSend: number;
  /** Of `toSend`: failed before. */
  readonly retried: number;
  /** Of `retried`: in doubt, which may charge twice. */
  readonly doubted: number;
  /** Of `toSend`: completed before, and changed since. */
  readonly redone: number;
  /** Sent again by `onUnknown: 'retry'`, though they may have been accepted; not part of `toSend`. */
  readonly doubled: number;
  /** Asked about by an id that is known; nothing is bought. */
  readonly toPoll: number;
  /** Paid, and only downloaded. */
  readonly toDownload: number;
  /** Held, because they may have been bought. */
  readonly toHold: number;
  /** To be done, and left for a later start by `limit` and `only`. */
  readonly later: number;
  /** Invalid rows that become failures. */
  readonly invalid: number;
  /** Completed rows that have changed since and are left as they are; the first of their ids. */
  readonly changed: { readonly count: number; readonly ids: readonly string[] };
  /** Of `later`: rows that wait for a version that is to replace the one in this manifest; the first of their ids. */
  readonly replaced: { readonly count: number; readonly ids: readonly string[] };
  /** Failed rows that have changed since and are left as they are. */
  readonly changedFailures: number;
  /** The cap that holds for this start, and what earlier starts have left of it. Absent: none holds. */
  readonly cap?: CapInForce & { readonly left: MicroDollars };
  /** Rows that fit under the cap, and their known prices: what this start may buy. Without a cap these are all that are sent. */
  readonly fits: { readonly rows: number; readonly estimated: MicroDollars };
  /** What is sent, by the values of each column that the run adds up by. Absent: there is none. */
  readonly by?: readonly ColumnAhead[];
  readonly price: {
    /** Of what is sent. */
    readonly estimated: MicroDollars;
    /** Rows that are sent and have no known price. */
    readonly unpriced: number;
  };
  /** Of `toSend`: rows that ask for exactly what a row before them asks for, under another id. A person is asked about them. */
  readonly same: SameRows;
  /**
   * Of `toSend`: rows that ask for exactly what an earlier row of the run asked for that is in the manifest no more, so that it would
   * be bought again under another id; where the run has not begun, what another run of this manifest has bought. Absent: there are none.
   */
  readonly bought?: BoughtRows;
  /**
   * Of `redone`: rows of a redo manifest that reject another purchase than the latest one of their row, because it was redone since
   * the manifest was saved. Absent: there are none.
   */
  readonly outdated?: SameRows;
  /** Columns that this start sends, and that earlier starts of the run, by an older version, kept as the user's own. */
  readonly newlySent: readonly string[];
  /** Queue endpoints that rows are sent to. */
  readonly endpoints: readonly string[];
  /** What `each` and `repeat` ask for otherwise than in earlier starts of the run. Absent: they ask for the same. */
  readonly axes?: AxesChange;
  /** Ids of `only` that no row has. */
  readonly missing: readonly string[];
  /** Paths into outputs whose files are saved. Absent: none. */
  readonly saves?: readonly string[];
  /** A sentence for each column to add up by in which no row has a value. */
  readonly unknownColumns?: readonly string[];
}
