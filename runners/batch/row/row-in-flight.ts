import { BehaviorSubject, type Observable } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { IntentRecord, ReplyRecord } from '../journal/record.js';
import type { RowRequest } from '../manifest/manifest-row.js';
import { stepOf, type RowRecord } from './record-head.js';
import { nextStatus, type RowStatus } from './row-status.js';
import type { RowFacts, RowTask } from './task.js';

/** The latest purchase of a row, as far as its records name it. */
export interface RowPurchase {
  /** The row as it is written to files. */
  readonly facts: RowFacts;
  /** Number of POSTs over all starts. */
  readonly attempts: number;
  /** Absent while its job is polled: thousands of rows may wait, and it follows from the other fields (`intentOfRow`). */
  readonly intent?: IntentRecord | undefined;
  readonly jobId?: string | undefined;
  /** In ms since the epoch. */
  readonly submittedAt?: number | undefined;
  /** Number of status requests in this start. */
  readonly statusCalls: number;
}

export interface RowProgress extends RowPurchase {
  readonly status: RowStatus;
  /** Its job has ended; the steps that follow must not be interrupted. */
  readonly isOver: boolean;
  /** The request as it is sent: with URLs where `facts` names local pictures. */
  readonly request: RowRequest;
  /** The `askedHash` of its latest intent of this start. */
  readonly asked?: string | undefined;
  /** The reserved price; `null` if no price is known. */
  readonly price: MicroDollars | null;
  /** Present while its picture is still to be saved. */
  readonly reply?: ReplyRecord | undefined;
  /** How many of its purchases ended because all tries were refused. */
  readonly usedUp: number;
  /** How often it was sent again because of `--on-unknown retry`. */
  readonly doubles: number;
}

/** A row in flight: only its progress changes, and that is replaced as a whole. */
export class RowInFlight {
  readonly id: string;
  progress: RowProgress;
  private changes: BehaviorSubject<RowProgress> | undefined;

  constructor(readonly task: RowTask) {
    const { row, attempts } = task;
    const isPolled = task.what === 'poll';
    this.id = row.id;
    this.progress = {
      status: isPolled ? 'accepted' : 'open',
      request: (isPolled ? undefined : task.wire) ?? row.request,
      // All fields exist from the beginning, because each added field would give the object another hidden class.
      isOver: false,
      facts: row,
      attempts,
      price: null,
      statusCalls: 0,
      usedUp: 0,
      doubles: 0,
      intent: undefined,
      asked: undefined,
      jobId: undefined,
      submittedAt: undefined,
      reply: undefined,
      ...(isPolled && { intent: task.intent, jobId: task.jobId, submittedAt: task.submittedAt }),
    };
  }

  /** The progress, and each change of it. Created when somebody needs it, because it takes memory for each row that waits. */
  get progress$(): Observable<RowProgress> {
    return (this.changes ??= new BehaviorSubject(this.progress));
  }

  /** Replaces a part of the progress. */
  change(part: Partial<RowProgress>): void {
    this.next({ ...this.progress, ...part });
  }

  /** Updates the progress with a record of the row. */
  take(record: RowRecord): void {
    this.next(progressAfter(this.progress, record));
  }

  private next(progress: RowProgress): void {
    this.progress = progress;
    this.changes?.next(progress);
  }
}

function progressAfter(progress: RowProgress, record: RowRecord): RowProgress {
  const status = nextStatus(progress.status, stepOf(record));
  switch (record.k) {
    case 'intent': {
      const { attempt: attempts, at: submittedAt, asked = record.hash, jobId } = record;
      return { ...progress, status, intent: record, attempts, submittedAt, asked, jobId };
    }
    case 'accepted':
      return { ...progress, status, jobId: record.jobId, intent: undefined };
    case 'reply':
      return { ...progress, status, reply: record, jobId: progress.jobId ?? record.jobId };
    case 'reopen':
      return { ...progress, status, isOver: false, doubles: progress.doubles + 1 };
    case 'outcome':
      return { ...progress, status, reply: undefined };
    case 'refused':
    case 'freed':
      return { ...progress, status };
  }
}
