import type { FailureCode, Paid } from '../../../src/contract/failure-code.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowKind, RowMode, RowRequest } from '../manifest/manifest-row.js';
import type { EndStatus } from '../row/row-status.js';

/** Raised when an older reader would misread what is written. A newer format is refused by `recover`. */
export const journalFormat = 1;

/** Where the figure of a purchase comes from. `none`: nothing was bought. */
export type CostSource = 'reported' | 'estimated' | 'unknown' | 'none';

/** What must be the same at every start of one run. */
export interface RunIdentity {
  readonly baseUrl: string;
  readonly lbBaseUrl: string;
  /** The embedded emulator: its base URL changes with its port, so only this flag counts then. */
  readonly local: boolean;
}

export interface SavedImage {
  /** Relative to the output folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Where it came from; absent for a base64 answer. */
  readonly url?: string;
  /** ISO time at which the URL dies: 7 days after creation (spec 8). */
  readonly expiresAt?: string;
}

/** A file of an output that the user asked for (`saveOutput`). */
export interface OutputFile extends Partial<Omit<SavedImage, 'expiresAt'>> {
  /** Where the output has it: `output.images[1].url`. */
  readonly field: string;
  /** Why there is none. */
  readonly problem?: string;
}

/** What is saved of an output. */
export interface SavedOutputs {
  readonly image?: SavedImage;
  /** Those without a path are at their URLs, or have a problem. */
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
  /** About to be sent: synced before the POST. Holds all of the row, so that a later start needs no manifest for it. */
  | {
      k: 'intent';
      at: number;
      id: string;
      row: number;
      hash: string;
      kind: RowKind;
      endpoint: string;
      mode: RowMode;
      /** Counts the POSTs of the row over all starts, from 1. */
      attempt: number;
      /** Reserved; `null`: no price is known. 0 when a known id is polled and nothing is bought. */
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
  /** Provably not accepted: the reservation is free, the row stays to be done. */
  | { k: 'refused'; at: number; id: string; why: string }
  /** Synced before the first poll. */
  | { k: 'accepted'; at: number; id: string; jobId: string }
  /** A completed job's final reply, synced before its picture is downloaded. Base64 pictures are saved first and replaced by their path. */
  | {
      k: 'reply';
      at: number;
      id: string;
      jobId?: string;
      output: unknown;
      cost: MicroDollars | null;
      source: CostSource;
      /** The cost that the service reported and that is not believed, as text: `cost` is the estimate. */
      disbelieved?: string;
      delayTime?: number;
      executionTime?: number;
      /** Set when a picture has to be downloaded. */
      imageUrl?: string;
      /** Set when the answer was base64 and its picture is saved already. */
      image?: SavedImage;
      /** The same for other files that were asked for. */
      files?: readonly OutputFile[];
      statusCalls: number;
      submittedAt: number;
    }
  /** The last word on a row until it is reopened. */
  | ({
      k: 'outcome';
      at: number;
      id: string;
      cost: MicroDollars | null;
      source: CostSource;
      /** Of a row that failed: as in `reply`. */
      disbelieved?: string;
      statusCalls: number;
      submittedAt?: number;
      /** Set where a purchase ended with it: what its line in costs.csv says. */
      purchase?: PurchaseFacts;
    } & (
      | ({ status: 'completed' } & SavedOutputs)
      | ({
          status: 'failed';
          error: RowError;
          imageUrl?: string;
          jobId?: string;
          /** for rows that never had an intent */ row?: FailedRowFacts;
          /** Of such a row whose price is held: what it is held for. */
          kind?: RowKind | null;
          endpoint?: string;
          /** Its number among the POSTs of the row, where earlier ones are known. */
          attempt?: number;
          resolution?: string;
          /** Of a row whose other files could not be saved: these are. */
        } & SavedOutputs)
    ))
  /** A row that had ended is taken up again: it leaves failures.jsonl (or results.jsonl when it is redone). */
  | {
      k: 'reopen';
      at: number;
      id: string;
      why: 'retry' | 'redo' | 'refetch' | 'settle';
      to: 'poll' | 'download' | 'buy';
      /** A purchase of the row, by its attempt, that is held as unknown no more: its job is asked for, or it was never made. */
      voids?: number;
    }
  /**
   * A person has decided on a purchase that was held, of a row that was bought again since: it is held no more. `source`
   * none: it was never made.
   */
  | {
      k: 'freed';
      at: number;
      id: string;
      row: number;
      kind: RowKind;
      endpoint: string;
      attempt: number;
      /** What was held for it; `null`: no price was known. */
      price: MicroDollars | null;
      resolution?: string;
      jobId?: string;
      cost: MicroDollars | null;
      source: 'reported' | 'none';
      /** Of the row as it was sent then. */
      cells?: Record<string, unknown>;
      columns?: Record<string, unknown>;
    }
  /** The cost cap that a person gave the run, in USD, until the next such record; `null`: lifted. */
  | { k: 'cap'; at: number; usd: number | null }
  /** By which columns the money of the run is added up, and the caps of their values in USD, until the next such record. */
  | { k: 'cost-by'; at: number; columns: readonly string[]; capsUsd: Readonly<Record<string, number>> }
  /** The paths of the output whose files are saved, until the next such record. Written once the rows that had ended are taken up for them. */
  | { k: 'save-output'; at: number; paths: readonly string[] }
  /** The end of one start. */
  | { k: 'stop'; at: number; exitCode: number }
  /**
   * Written by `--repair` in place of what could not be read. Rows up to `heldUpToRow` may have had a record there that is
   * lost, so they are held as `unknown` before they are bought.
   */
  | {
      k: 'repaired';
      at: number;
      /** how many records are lost, as far as that can be told */ missing: number;
      heldUpToRow: number;
    };

export type RecordOf<K extends JournalRecord['k']> = Extract<JournalRecord, { k: K }>;
export type IntentRecord = RecordOf<'intent'>;
export type ReplyRecord = RecordOf<'reply'>;
export type OutcomeRecord = RecordOf<'outcome'>;

/** Whether a person said what a row that ended so has cost: no job that is gone reports a cost. */
export function isCostByHand(status: EndStatus): boolean {
  return status === 'expired';
}

/** Whether it was written by `settle`: a person says what became of a request. */
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
  /** 0: nothing was sent. */
  readonly attempt: number;
  readonly jobId?: string;
  readonly endpoint: string;
  readonly resolution?: string;
  /** In ms since the epoch. */
  readonly settledAt: number;
  /** Written before a `reopen` could say `voids`: it stands in costs.csv as unknown already. */
  readonly held?: true;
}

export interface FailedRowFacts {
  readonly row: number;
  readonly hash: string;
  readonly kind: RowKind | null;
  readonly endpoint: string;
  readonly cells: Record<string, unknown>;
}
