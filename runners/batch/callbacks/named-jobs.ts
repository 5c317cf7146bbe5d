import { defer, filter, finalize, startWith, Subject, take, type Observable } from 'rxjs';
import type { JobOfWaitingRow, HeldPost, NamedJob } from '../context/callback-port.js';
import type { RowRecords } from '../journal/journal.js';
import { intentOfRow } from '../row/records-of.js';
import type { RowInFlight } from '../row/row-in-flight.js';

/** Rows that wait to be sent again, and the jobs that callbacks have named for the latest POSTs of rows. */
export class NamedJobs {
  readonly named = new Map<string, NamedJob>();
  private readonly waiting = new Map<string, RowInFlight>();
  private readonly named$ = new Subject<string>();

  jobNamed(row: RowInFlight): Observable<unknown> {
    const { id } = row;
    return defer(() => {
      this.waiting.set(id, row);
      return this.named$.pipe(
        startWith(id),
        filter((named) => named === id && this.namedOf(row) !== undefined),
        take(1),
        finalize(() => this.wentOn(row)),
      );
    });
  }

  /** Called when the row no longer waits. If it has been sent again, a job named for its earlier POST no longer counts. */
  private wentOn({ id, progress }: RowInFlight): void {
    this.waiting.delete(id);
    const job = this.named.get(id);
    if (job?.isTaken !== true && job?.attempt !== progress.attempts) this.named.delete(id);
  }

  takeNamed(row: RowInFlight): JobOfWaitingRow | undefined {
    const job = this.namedOf(row);
    if (job !== undefined) this.named.set(row.id, { ...job, isTaken: true });
    return job;
  }

  taken(id: string): void {
    const job = this.named.get(id);
    if (job !== undefined) this.named.set(id, { ...job, isTaken: true });
  }

  takeLeft(): readonly JobOfWaitingRow[] {
    const left: JobOfWaitingRow[] = [];
    for (const [id, job] of this.named) {
      const { jobId, again, isTaken } = job;
      if (again === undefined || isTaken === true) continue;
      this.named.set(id, { ...job, isTaken: true });
      left.push({ jobId, again });
    }
    return left;
  }

  name(id: string, job: NamedJob): void {
    this.named.set(id, job);
    if (job.again !== undefined) this.named$.next(id);
  }

  /** Forgets a job that was named for another POST of the row than this one. */
  keepOnly(id: string, { attempt }: Pick<HeldPost, 'attempt'>): void {
    if (this.named.get(id)?.attempt !== attempt) this.named.delete(id);
  }

  isWaiting(id: string): boolean {
    return this.waiting.has(id);
  }

  /** The records of a row that waits and whose latest POST was sent in this start. */
  sent(id: string): JobOfWaitingRow['again'] | undefined {
    const row = this.waiting.get(id);
    return row && sentBy(row);
  }

  /** Whether the row waits to be sent again after this POST. */
  isWaitingFor(id: string, attempt: number): boolean {
    return this.waiting.get(id)?.progress.attempts === attempt;
  }

  private namedOf(row: RowInFlight): (NamedJob & JobOfWaitingRow) | undefined {
    const job = this.named.get(row.id);
    const again = job?.attempt === row.progress.attempts ? (job.again ?? sentBy(row)) : undefined;
    return job && again && { ...job, again };
  }
}

/** The records of a row whose latest POST was sent in this start and was not accepted. */
function sentBy({ id, progress }: RowInFlight): JobOfWaitingRow['again'] | undefined {
  const { status, attempts } = progress;
  const intent = intentOfRow(progress);
  return intent && { id, status, attempts, intent };
}

/** Whether the latest POST of a row was not accepted, and nothing of the row has been sent since. */
export function isToBeSentAgain(
  row: RowRecords | undefined,
  attempt: number,
): row is JobOfWaitingRow['again'] {
  return row?.intent !== undefined && row.status === 'open' && attempt === row.attempts;
}
