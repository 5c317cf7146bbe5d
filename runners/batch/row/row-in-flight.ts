import { BehaviorSubject } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { IntentRecord, ReplyRecord } from '../journal/record.js';
import type { RowRequest } from '../manifest/manifest-row.js';
import { stepOf, type RowRecord } from './record-head.js';
import { nextStatus, type RowStatus } from './row-status.js';
import type { RowFacts, RowTask } from './task.js';

/** The latest purchase of a row, as far as its records name it. */
export interface RowPurchase {
  /** As the files have it. */
  readonly facts: RowFacts;
  /** POSTs over all starts. */
  readonly attempts: number;
  readonly intent?: IntentRecord | undefined;
  readonly jobId?: string | undefined;
  /** In ms since the epoch. */
  readonly submittedAt?: number | undefined;
  /** Status requests of this start. */
  readonly statusCalls: number;
}

/** How far a row in flight is. */
export interface RowProgress extends RowPurchase {
  readonly status: RowStatus;
  /** Its job has ended: what follows from that is not cut off. */
  readonly isOver: boolean;
  /** What leaves on the wire: in `facts` pictures of this machine have another name. */
  readonly request: RowRequest;
  /** Reserved for it; `null`: no price is known. */
  readonly price: MicroDollars | null;
  /** Its picture is still to be saved. */
  readonly reply?: ReplyRecord | undefined;
  /** Purchases of it whose tries were used up by refusals. */
  readonly usedUp: number;
  /** Sent again under `--on-unknown retry`. */
  readonly doubles: number;
}

/** A row in flight: nothing of it changes but its progress, which is replaced as a whole. */
export class RowInFlight {
  readonly id: string;
  readonly progress$: BehaviorSubject<RowProgress>;

  constructor(readonly task: RowTask) {
    const { row, attempts } = task;
    const isPolled = task.what === 'poll';
    this.id = row.id;
    this.progress$ = new BehaviorSubject<RowProgress>({
      status: isPolled ? 'accepted' : 'open',
      request: (isPolled ? undefined : task.wire) ?? row.request,
      // With all of its fields from the beginning: each field more would take a shape of its own in memory.
      ...{ isOver: false, facts: row, attempts, price: null, statusCalls: 0, usedUp: 0, doubles: 0 },
      ...{ intent: undefined, jobId: undefined, submittedAt: undefined, reply: undefined },
      ...(isPolled && { intent: task.intent, jobId: task.jobId, submittedAt: task.submittedAt }),
    });
  }

  get progress(): RowProgress {
    return this.progress$.value;
  }

  /** Replaces a part of the progress. */
  change(part: Partial<RowProgress>): void {
    this.progress$.next({ ...this.progress, ...part });
  }

  /** Brings the progress up to a record of the row. */
  take(record: RowRecord): void {
    this.progress$.next(afterRecord(this.progress, record));
  }
}

function afterRecord(progress: RowProgress, record: RowRecord): RowProgress {
  const status = nextStatus(progress.status, stepOf(record));
  switch (record.k) {
    case 'intent': {
      const { attempt: attempts, at: submittedAt, jobId } = record;
      return { ...progress, status, intent: record, attempts, submittedAt, jobId };
    }
    case 'accepted':
      return { ...progress, status, jobId: record.jobId };
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
