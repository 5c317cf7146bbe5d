import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { IntentRecord, ReplyRecord, SavedOutputs } from '../journal/record.js';
import { isRead, type InvalidRow, type Row, type RowRequest } from '../manifest/manifest-row.js';

export { isRead };

/** The fields that a row has both in the manifest and in its journal record. */
export type RowFacts = Pick<
  IntentRecord,
  'id' | 'row' | 'hash' | 'kind' | 'endpoint' | 'mode' | 'request' | 'cells' | 'columns'
> & {
  readonly resolution?: string | undefined;
  /** Only for a row of the manifest. @defaultValue 0 */
  readonly priority?: number | undefined;
};

interface TaskOfRow {
  readonly row: RowFacts;
  /** Number of POSTs over all starts. */
  readonly attempts: number;
}

/** What this start has to do for one row. */
export type Task =
  /** Send the row. */
  | (TaskOfRow & {
      readonly what: 'send';
      /** The request as it is sent, if local pictures are replaced by URLs in it. */
      readonly wire?: RowRequest;
      /** The price reserved for it in the ledger that runs share: another process sends it at no higher one. */
      readonly mostPrice?: MicroDollars;
    })
  /** Poll its job. Without an `intent` the job was bought elsewhere. */
  | (TaskOfRow & {
      readonly what: 'poll';
      readonly jobId: string;
      readonly intent?: IntentRecord;
      /** In ms since the epoch. */
      readonly submittedAt?: number;
      /** An earlier start gave it up as `expired`, so it is polled only once. */
      readonly wasExpired?: boolean;
      /** This start has sent it, over a database: its worker has left, and another one polls its job. @defaultValue false */
      readonly isOfThisStart?: boolean;
    })
  /** Download its picture. */
  | (TaskOfRow & { readonly what: 'fetch'; readonly imageUrl: string; readonly replied?: undefined })
  /** Download its picture; the reply is in the journal. */
  | (TaskOfRow & { readonly what: 'fetch'; readonly replied: RepliedRow })
  /** End it as failed: it may have been bought, so a person must decide. */
  | (TaskOfRow & { readonly what: 'hold'; readonly code: FailureCode })
  /** End it as invalid. */
  | { readonly what: 'refuse'; readonly invalid: InvalidRow };

/** The task for a row of the manifest, without the row. `reopen`: the row had ended, and this reopens it. */
export type TaskSpec =
  | { readonly what: 'send'; readonly reopen?: 'retry' | 'redo' }
  /** A job that was bought elsewhere. */
  | { readonly what: 'poll'; readonly jobId: string; readonly reopen?: 'retry' }
  /** A picture that was bought elsewhere. */
  | { readonly what: 'fetch'; readonly imageUrl: string; readonly reopen?: 'retry' }
  | { readonly what: 'hold'; readonly code: FailureCode };

export type TaskOf<W extends Task['what']> = Extract<Task, { what: W }>;

/** A task that a job of the library performs. */
export type RowTask = TaskOf<'send' | 'poll'>;

/** The purchase of a row whose reply is in the journal. */
export interface RepliedRow {
  readonly intent: IntentRecord;
  readonly reply: ReplyRecord;
  /** The purchase is in costs.csv already. */
  readonly isBooked: boolean;
  /** Outputs that an earlier start saved, in addition to those in the reply. */
  readonly saved?: SavedOutputs | undefined;
}

/** A row that is paid for and durable, and whose picture is still to be saved. */
export interface PaidRow extends RepliedRow {
  readonly row: RowFacts;
  /** Number of POSTs over all starts. */
  readonly attempts: number;
  /** Frees the row's slot. The receiver calls it once. */
  readonly free: () => void;
}

/** Copies the facts of a row of the manifest, and computes its hash. */
export function rowFactsOf(row: Row): RowFacts {
  const { id, hash, kind, endpoint, mode, request, cells, columns, resolution, priority } = row;
  return { id, row: row.row, hash, kind, endpoint, mode, request, cells, columns, resolution, priority };
}

/** Whether the service can call back about the row, because it goes to /run. */
export function isCalledBack({ kind, mode }: Pick<RowFacts, 'kind' | 'mode'>): boolean {
  return kind !== 'route' && mode === 'async';
}

/** Whether nothing is bought: the job or picture was bought elsewhere, or the request is a read. */
export function buysNothing({
  intent,
  facts,
}: {
  readonly intent?: IntentRecord | undefined;
  readonly facts: RowFacts;
}): boolean {
  return intent?.takes !== undefined || isRead(facts);
}

/** How long to wait for an answer of /runsync. */
export interface RunsyncTimeouts {
  readonly runsyncTimeoutMs: number;
  /** By endpoint id, where it differs. */
  readonly executionTimeoutsMs: Readonly<Record<string, number>>;
}

export function runsyncTimeoutOf(timeouts: RunsyncTimeouts, endpoint: string): number {
  return timeouts.executionTimeoutsMs[endpoint] ?? timeouts.runsyncTimeoutMs;
}
