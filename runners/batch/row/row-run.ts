import { BehaviorSubject } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { IntentRecord, ReplyRecord } from '../journal/record.js';
import type { RowRequest } from '../manifest/manifest-row.js';
import type { RowFacts, TaskOf } from './task.js';

/**
 * Where a row in flight stands. `waiting`: nothing of it is out. `wire`: an intent is journalled, and no answer yet.
 * `polling`: its id is journalled. `ended`: its reply or its outcome is, or is on its
 * way there and can no longer be left.
 */
export type RowPhase = 'waiting' | 'wire' | 'polling' | 'ended';

/** A row in flight. */
export class RowRun {
  /** As the files tell of it. */
  row: RowFacts;
  /** What leaves, where the files do not tell it: addresses of pictures. */
  wire: RowRequest | undefined;
  readonly phase$ = new BehaviorSubject<RowPhase>('waiting');
  /** POSTs over all starts. */
  attempts: number;
  intent: IntentRecord | undefined;
  jobId: string | undefined;
  /** Reserved for it; `null`: no price is known. */
  price: MicroDollars | null | undefined;
  submittedAt: number | undefined;
  /** Status requests of this start. */
  statusCalls: () => number = () => 0;
  /** Purchases of it whose tries were used up by refusals. */
  usedUp = 0;
  /** Sent again under `--on-unknown retry`. */
  doubles = 0;
  /** Its reply is durable, and its picture is still to be had. */
  reply: ReplyRecord | undefined;

  constructor(readonly task: TaskOf<'send' | 'poll'>) {
    this.row = task.row;
    this.attempts = task.attempts;
    if (task.what !== 'poll') return;
    this.intent = task.intent;
    this.jobId = task.jobId;
    this.submittedAt = task.submittedAt;
    this.enter('polling');
  }

  get id(): string {
    return this.row.id;
  }

  get phase(): RowPhase {
    return this.phase$.value;
  }

  /** Nothing is bought by it: its job was bought elsewhere. */
  get takes(): boolean {
    return this.intent?.takes !== undefined;
  }

  /** Moves the row on. */
  enter(phase: RowPhase): void {
    this.phase$.next(phase);
  }
}
