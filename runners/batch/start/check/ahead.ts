import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { BoughtRows, SameRows } from '../../manifest/duplicates/same-requests.js';
import type { AxesChange } from '../../manifest/matrix/asked-axes.js';
import type { ColumnAhead } from '../money/value-survey.js';
import type { CapInForce } from '../money/cap-in-force.js';

/** What a start would do, according to the manifest and the journal of earlier starts. */
export interface Ahead {
  /** Rows of the manifest, including invalid ones. */
  readonly rows: number;
  /** The part of `rows` that has ended before and stays as it is. */
  readonly ended: number;
  /**
   * Rows of earlier starts that are not in this manifest: it is another one, rows were removed, or derived ids changed with the
   * content.
   */
  readonly gone: number;
  /** Rows that are sent, including those that failed before. */
  readonly toSend: number;
  /** The part of `toSend` that failed before. */
  readonly retried: number;
  /** The part of `retried` that was unknown: sending these rows may charge twice. */
  readonly retriedUnknown: number;
  /** The part of `toSend` that an earlier start has reopened, and that may have been bought before: it may be charged twice. */
  readonly reopened: number;
  /** The part of `toSend` that completed before and has changed since. */
  readonly redone: number;
  /** Rows sent again because of `onUnknown: 'retry'` though they may have been accepted; not part of `toSend`. */
  readonly doubled: number;
  /** Rows whose job id is known and is polled; nothing is bought. */
  readonly toPoll: number;
  /** Paid rows whose pictures or files are only downloaded. */
  readonly toDownload: number;
  /** Rows that are held because they were or may have been bought. */
  readonly toHold: number;
  /** The part of `toHold` that was bought for certain, such as rows that were charged: these are not in doubt. */
  readonly heldPaid: number;
  /** Rows whose request had no answer when the last start ended: this start holds them too. Not part of `toHold`. */
  readonly unanswered: number;
  /** Rows left for a later start, because of `limit` or `only`, or because another version is to replace them. */
  readonly later: number;
  /** Invalid rows that become failures. */
  readonly invalid: number;
  /**
   * Rows that completed, or whose job or picture is known and is continued, and that have changed since: they are left as they were
   * bought. With the first of their ids. `boughtAs`: those among these whose request another row of the run has bought, whose id is
   * the value: the ids have moved to other rows. Absent if there are none.
   */
  readonly changed: {
    readonly count: number;
    readonly ids: readonly string[];
    readonly boughtAs?: Readonly<Record<string, string>>;
  };
  /**
   * Rows that this start would send if a later version did not replace the one in this manifest; with the first of their ids.
   * They are a part of `later`, and failed rows that `retry` asks for.
   */
  readonly replaced: { readonly count: number; readonly ids: readonly string[] };
  /** Failed rows that have changed since and are left as they are. */
  readonly changedFailures: number;
  /** The cap of this start, and the amount that earlier starts have left of it. Absent if there is no cap. */
  readonly cap?: CapInForce & { readonly left: MicroDollars };
  /**
   * What this start may buy: the number of rows that fit under the caps, and the sum of their known prices. Without a cap, all
   * rows to send.
   */
  readonly fits: { readonly rows: number; readonly estimated: MicroDollars };
  /** The rows that are sent, by the values of each column that the run adds up by. Absent if there is no such column. */
  readonly by?: readonly ColumnAhead[];
  readonly price: {
    /** The sum of the known prices of the rows that are sent. */
    readonly estimated: MicroDollars;
    /** The number of rows that are sent and have no known price. */
    readonly unpriced: number;
  };
  /** The row that is sent first of those without a known price. Absent if there are none. */
  readonly firstUnpriced?: { readonly id: string; readonly line: number };
  /** The part of `toSend` whose request is the same as that of an earlier row under another id. The user is asked about them. */
  readonly same: SameRows;
  /**
   * The part of `toSend` that would buy a request again under another id: a row of this run that left the manifest or has
   * changed since has bought it. If there are none of these, requests that another run of this manifest or of the same rows has
   * bought; else `others` has these. Absent if there are none.
   */
  readonly bought?: BoughtRows;
  /** Folders of runs that had rows of the manifest, whose journals are gone, and of which it is not known what they have bought. */
  readonly unread?: readonly string[];
  /**
   * The part of `redone` that rejects a purchase which is not the row's latest: the row was redone after the redo manifest was
   * saved. Absent if there are none.
   */
  readonly outdated?: SameRows;
  /** Columns that this start sends, but an older version treated as the user's own in earlier starts of the run. */
  readonly newlySent: readonly string[];
  /** Queue endpoints that rows are sent to. */
  readonly endpoints: readonly string[];
  /** How `each` and `repeat` differ from those of earlier starts. Absent if they are the same. */
  readonly axes?: AxesChange;
  /** Ids in `only` that no row has. */
  readonly missing: readonly string[];
  /** Each entry of `only` is that of a row, and no row has all of them. */
  readonly areApart?: true;
  /** Paths in outputs whose files are saved. Absent if there are none. */
  readonly saves?: readonly string[];
  /** One sentence for each column of `costBy` in which no row has a value. */
  readonly unknownColumns?: readonly string[];
}
