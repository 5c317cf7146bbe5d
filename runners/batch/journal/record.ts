import type { FailureCode, Paid } from '../../../src/contract/failure-code.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowKind, RowMode, RowRequest } from '../manifest/manifest-row.js';
import type { EndStatus } from '../row/row-status.js';

/**
 * To be raised when an older reader would misread what is written. `recover` refuses a newer format. 0.1.0 has 1. It
 * is odd, so that a damaged lowest bit does not make a newer format of it.
 */
export const journalFormat = 3;

/** Where the cost of a purchase comes from. `none`: nothing was bought. */
export type CostSource = 'reported' | 'estimated' | 'unknown' | 'none';

/** What must be the same at every start of one run. */
export interface RunIdentity {
  readonly baseUrl: string;
  readonly lbBaseUrl: string;
  /** The embedded emulator is used: its base URL changes with its port, so only this flag is compared then. */
  readonly local: boolean;
}

export interface SavedImage {
  /** Relative to the output folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Where it came from; absent for a base64 answer. */
  readonly url?: string;
  /** ISO time at which the URL expires: 7 days after creation (spec 8). */
  readonly expiresAt?: string;
  /** Why the picture at `url` could not be fetched: this one stood beside the URL in the reply, and may be a smaller preview. */
  readonly problem?: string;
}

/** A file in an output that the user asked for (`saveOutput`). */
export interface OutputFile extends Partial<Omit<SavedImage, 'expiresAt'>> {
  /** Its path in the output, such as `output.images[1].url`. */
  readonly field: string;
  /** Why the file is missing. */
  readonly problem?: string;
}

/** The picture and files that are saved from an output. */
export interface SavedOutputs {
  readonly image?: SavedImage;
  /** Files without a path are at their URLs, or have a problem. */
  readonly files?: readonly OutputFile[];
}

/** `at` is in ms since the epoch throughout. The order of a row: (intent refused*)* intent [accepted] reply? outcome. */
export type JournalRecord =
  | {
      k: 'start';
      at: number;
      version: string;
      identity: RunIdentity;
      manifest: string;
      settings: Record<string, unknown>;
    }
  /**
   * The row is about to be sent; synced before the POST. It has all of the row, so that a later start needs no manifest
   * for it.
   */
  | {
      k: 'intent';
      at: number;
      id: string;
      row: number;
      hash: string;
      /** The `askedHash` of the request, if it is another one. */
      asked?: string;
      kind: RowKind;
      endpoint: string;
      mode: RowMode;
      /** Number of the POST over all starts of the row, counted from 1. */
      attempt: number;
      /** The reserved amount; `null` if no price is known; 0 if the job id is known and nothing is bought. */
      price: MicroDollars | null;
      resolution?: string;
      /** Nothing is bought: a job that was bought elsewhere is polled, or its picture is fetched. */
      takes?: 'job' | 'picture';
      /** The job that is polled. */
      jobId?: string;
      request: RowRequest;
      cells: Record<string, unknown>;
      columns: Record<string, unknown>;
    }
  /** The request was certainly not accepted: the reservation is released, and the row is still to be sent. */
  | { k: 'refused'; at: number; id: string; why: string }
  /** Synced before the first poll. */
  | { k: 'accepted'; at: number; id: string; jobId: string }
  /**
   * A completed job's final reply, synced before its picture is downloaded. Base64 pictures are saved first and
   * replaced by their paths.
   */
  | {
      k: 'reply';
      at: number;
      id: string;
      jobId?: string;
      output: unknown;
      cost: MicroDollars | null;
      source: CostSource;
      /** A reported cost that is not believable, as text; `cost` is then the estimate. */
      disbelieved?: string;
      delayTime?: number;
      executionTime?: number;
      /** Set if a picture has to be downloaded. */
      imageUrl?: string;
      /** Set if the answer was base64 and its picture is saved already. */
      image?: SavedImage;
      /** Other files that were asked for and are saved already. */
      files?: readonly OutputFile[];
      statusCalls: number;
      submittedAt: number;
    }
  /** The end of a row, until it is reopened. */
  | ({
      k: 'outcome';
      at: number;
      id: string;
      cost: MicroDollars | null;
      source: CostSource;
      /** As in `reply`, for a row that failed. */
      disbelieved?: string;
      statusCalls: number;
      submittedAt?: number;
      /** Set if a purchase ended with this outcome: the content of its line in costs.csv. */
      purchase?: PurchaseFacts;
    } & (
      | ({ status: 'completed' } & SavedOutputs)
      | ({
          status: 'failed';
          error: RowError;
          imageUrl?: string;
          jobId?: string;
          /** For rows that never had an intent. */
          row?: FailedRowFacts;
          /** For such a row whose price is held: the kind of request it is held for. */
          kind?: RowKind | null;
          endpoint?: string;
          /** The number of the purchase among the POSTs of the row, if earlier ones are known. */
          attempt?: number;
          resolution?: string;
          /** The files that were saved, if others of the row could not be saved. */
        } & SavedOutputs)
    ))
  /** Reopens a row that had ended: its line is removed from failures.jsonl, or from results.jsonl once a new result is there. */
  | {
      k: 'reopen';
      at: number;
      id: string;
      why: 'retry' | 'redo' | 'refetch' | 'settle';
      to: 'poll' | 'download' | 'buy';
      /** The attempt number of a purchase that is no longer held as unknown: its job is polled, or it was never made. */
      voids?: number;
    }
  /** Settles a held purchase, by hand, of a row that was bought again since. If `source` is `none`, the purchase was never made. */
  | {
      k: 'freed';
      at: number;
      id: string;
      row: number;
      kind: RowKind;
      endpoint: string;
      attempt: number;
      /** The amount held for it; `null` if no price was known. */
      price: MicroDollars | null;
      resolution?: string;
      jobId?: string;
      cost: MicroDollars | null;
      source: 'reported' | 'none';
      /** The row as it was sent then. */
      cells?: Record<string, unknown>;
      columns?: Record<string, unknown>;
    }
  /** The cost cap that a person gave the run, in US dollars, until the next such record; `null` if it was lifted. */
  | { k: 'cap'; at: number; usd: number | null }
  /** The columns by which the run's money is added up, and the caps of their values in US dollars, until the next such record. */
  | { k: 'cost-by'; at: number; columns: readonly string[]; capsUsd: Readonly<Record<string, number>> }
  /**
   * The paths of the output whose files are saved, until the next such record. Written once the rows that had ended
   * have been reopened for them.
   */
  | { k: 'save-output'; at: number; paths: readonly string[] }
  /** The end of one start. */
  | { k: 'stop'; at: number; exitCode: number }
  /**
   * Written by `--repair` in place of what could not be read. Rows up to `heldUpToRow` may have had a record there that
   * is lost, so they are held as `unknown` instead of being bought.
   */
  | {
      k: 'repaired';
      at: number;
      /** How many records are lost, as far as is known. */
      missing: number;
      heldUpToRow: number;
    };

export type RecordOf<K extends JournalRecord['k']> = Extract<JournalRecord, { k: K }>;
export type IntentRecord = RecordOf<'intent'>;
export type ReplyRecord = RecordOf<'reply'>;
export type OutcomeRecord = RecordOf<'outcome'>;

/** Whether the cost of a row with this end was given by a person: a job that is gone reports no cost. */
export function isCostByHand(status: EndStatus): boolean {
  return status === 'expired';
}

/** Whether the record was written by `settle`: a person has decided what happened to a request. */
export function isSettledByHand(record: JournalRecord): boolean {
  if (record.k === 'reopen') return record.why === 'settle';
  return record.k === 'refused' && record.why.startsWith('settled by hand');
}

export interface RowError {
  readonly code: FailureCode;
  readonly message: string;
  readonly detail?: string;
  readonly httpStatus?: number;
  readonly retryable: boolean;
  readonly paid: Paid;
}

export interface PurchaseFacts {
  readonly row: number;
  /** 0 if nothing was sent. */
  readonly attempt: number;
  readonly jobId?: string;
  readonly endpoint: string;
  readonly resolution?: string;
  /** In ms since the epoch. */
  readonly settledAt: number;
  /** Written by a version whose `reopen` did not have `voids`: the purchase is in costs.csv as unknown already. */
  readonly held?: true;
}

export interface FailedRowFacts {
  readonly row: number;
  readonly hash: string;
  readonly kind: RowKind | null;
  readonly endpoint: string;
  readonly cells: Record<string, unknown>;
}
