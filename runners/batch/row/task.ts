import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { IntentRecord, ReplyRecord, SavedOutputs } from '../journal/record.js';
import { isRead, type InvalidRow, type Row, type RowRequest } from '../manifest/manifest-row.js';

export { isRead };

/** What is the same in a row of the manifest and in its record in the journal. */
export type RowFacts = Pick<
  IntentRecord,
  'id' | 'row' | 'hash' | 'kind' | 'endpoint' | 'mode' | 'request' | 'cells' | 'columns'
> & {
  readonly resolution?: string | undefined;
  /** Of a row of the manifest. @defaultValue 0 */
  readonly priority?: number | undefined;
};

interface TaskOfRow {
  readonly row: RowFacts;
  /** POSTs over all starts. */
  readonly attempts: number;
}

/** What one row needs of this start. */
export type Task =
  /** It is sent. */
  | (TaskOfRow & {
      readonly what: 'send';
      /** What leaves on the wire, where that is not the row's request: pictures of a machine have other addresses there. */
      readonly wire?: RowRequest;
    })
  /** Its job is polled. Without an `intent` it was bought elsewhere. */
  | (TaskOfRow & {
      readonly what: 'poll';
      readonly jobId: string;
      readonly intent?: IntentRecord;
      /** In ms since the epoch. */
      readonly submittedAt?: number;
      /** An earlier start gave it up as `expired`: it is asked for once. */
      readonly wasExpired?: boolean;
    })
  /** Its picture is fetched. */
  | (TaskOfRow & { readonly what: 'fetch'; readonly imageUrl: string; readonly replied?: undefined })
  /** The same, where the reply is in the journal. */
  | (TaskOfRow & { readonly what: 'fetch'; readonly replied: RepliedRow })
  /** It fails as it is: it may have been bought, and a person decides. */
  | (TaskOfRow & { readonly what: 'hold'; readonly code: FailureCode })
  /** It cannot be sent. */
  | { readonly what: 'refuse'; readonly invalid: InvalidRow };

/** A task of a row of the manifest, apart from the row. `reopen`: the row had ended, and is taken up again. */
export type TaskSpec =
  | { readonly what: 'send'; readonly reopen?: 'retry' | 'redo' }
  /** A job that was bought elsewhere. */
  | { readonly what: 'poll'; readonly jobId: string; readonly reopen?: 'retry' }
  /** A picture that was bought elsewhere. */
  | { readonly what: 'fetch'; readonly imageUrl: string; readonly reopen?: 'retry' }
  | { readonly what: 'hold'; readonly code: FailureCode };

export type TaskOf<W extends Task['what']> = Extract<Task, { what: W }>;

/** A task that a job of the library does. */
export type RowTask = TaskOf<'send' | 'poll'>;

/** The purchase of a row whose reply is in the journal. */
export interface RepliedRow {
  readonly intent: IntentRecord;
  readonly reply: ReplyRecord;
  /** It stands in costs.csv already. */
  readonly isBooked: boolean;
  /** What an earlier start saved of it, beside what the reply says. */
  readonly saved?: SavedOutputs | undefined;
}

/** A row that is paid for and durable, and whose picture is still to be saved. */
export interface PaidRow extends RepliedRow {
  readonly row: RowFacts;
  /** POSTs over all starts. */
  readonly attempts: number;
  /** Frees its slot in the fan-out. To be called once the row has been taken over. */
  readonly free: () => void;
}

/** The facts of a manifest's row, apart from the row: its hash is worked out when it is asked for. */
export function rowFactsOf(row: Row): RowFacts {
  const { id, hash, kind, endpoint, mode, request, cells, columns, resolution, priority } = row;
  return { id, row: row.row, hash, kind, endpoint, mode, request, cells, columns, resolution, priority };
}

/** The service can call back about it: it goes to /run. */
export function isCalledBack({ kind, mode }: Pick<RowFacts, 'kind' | 'mode'>): boolean {
  return kind !== 'route' && mode === 'async';
}

/** A job or a picture that was bought elsewhere is taken over, and a read is free. */
export function buysNothing({
  intent,
  facts,
}: {
  readonly intent?: IntentRecord | undefined;
  readonly facts: RowFacts;
}): boolean {
  return intent?.takes !== undefined || isRead(facts);
}

/** How long an answer of /runsync is waited for. */
export interface RunsyncTimeouts {
  readonly runsyncTimeoutMs: number;
  /** By endpoint id, where it is another. */
  readonly executionTimeoutsMs: Readonly<Record<string, number>>;
}

export function runsyncTimeoutOf(timeouts: RunsyncTimeouts, endpoint: string): number {
  return timeouts.executionTimeoutsMs[endpoint] ?? timeouts.runsyncTimeoutMs;
}
