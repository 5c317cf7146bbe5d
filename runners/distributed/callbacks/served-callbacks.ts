import type { Pool } from 'pg';
import type { Observable, SchedulerLike } from 'rxjs';
import { CalledRows } from '../../batch/callbacks/called-rows.js';
import type { CallbackAddress } from '../../batch/context/callback-port.js';
import type { PurchaseContext } from '../../batch/context/purchase-context.js';
import type { RowTask } from '../../batch/row/row-after.js';
import { readStored, storeJob } from './callbacks-table.js';
import { handOnTo, type CalledWorker } from './called-worker.js';
import { RowsSentAgain, StoredCallbacks } from './stored-callbacks.js';

/** How many ended rows are remembered, because their callbacks may still arrive. */
const mostEnded = 1_000;

interface Parts {
  readonly pool: Pool;
  /** The number of the run in the database. */
  readonly run: number;
  /** The database's clock. */
  readonly scheduler: SchedulerLike;
  readonly stopping$: Observable<unknown>;
  /** Repeats a query while the database is away. */
  readonly insist: <T>(question: () => Promise<T>) => Promise<T>;
}

/** The callbacks about the rows that one worker has of a run: those that arrive here, and those that others have stored. */
export class ServedCallbacks {
  readonly called: CalledRows;
  private readonly stored: StoredCallbacks;
  private readonly sentAgain: RowsSentAgain;
  private readonly ended = new Set<string>();

  constructor(
    private readonly address: CallbackAddress,
    private readonly parts: Parts,
  ) {
    const { pool, run, scheduler, stopping$, insist } = parts;
    this.sentAgain = new RowsSentAgain((post) => storeJob(pool, run, post));
    this.called = new CalledRows(address, {
      scheduler,
      orphan: handOnTo(pool, run),
      leaving$: stopping$,
      listening: ({ id, task }) => {
        if (task.what === 'poll') this.stored.look([id]);
      },
    });
    const { sentAgain } = this;
    const { receiver } = this.called;
    this.stored = new StoredCallbacks({
      pool,
      run,
      name: address.run,
      receiver,
      left: (post) => sentAgain.named(post),
    });
    receiver.calls$.subscribe(({ result, row, attempt, jobId }) => {
      if (result === 'double' && row !== undefined && attempt !== undefined && jobId !== undefined)
        insist(() => sentAgain.contradicted({ row, attempt, jobId })).catch(() => undefined);
    });
  }

  /** What a purchase needs of them. */
  get forPurchases(): NonNullable<PurchaseContext['callbacks']> {
    const { called, sentAgain } = this;
    return { row: (row) => called.row(row), jobNamed: (row) => sentAgain.jobNamed(row) };
  }

  /** Takes the callbacks that arrive at this worker's port, until the returned function is called. */
  listenAt(port: CalledWorker): () => void {
    return port.serve(this.address.run, this.called);
  }

  /** Looks for stored callbacks about these rows. */
  look(rows: Iterable<string>): void {
    this.stored.look(rows);
  }

  /** Call this when a stored callback waits for the process that has this row. @param rows those that this worker has */
  wasCalled(row: string, rows: ReadonlyMap<string, unknown>): void {
    if (rows.has(row) || this.ended.delete(row)) this.stored.look([row]);
  }

  /** The row has left this worker. Its callbacks are still recognised. */
  rowEnded(id: string): void {
    this.ended.add(id);
    const [oldest] = this.ended;
    if (this.ended.size > mostEnded && oldest !== undefined) this.ended.delete(oldest);
  }

  /** Whether the row has left because a callback named its job. Returns true only once. */
  takeLeft(id: string): boolean {
    return this.sentAgain.takeLeft(id);
  }

  /**
   * Which of these rows, which are to be sent again, must not be: a callback that arrived while no worker had the row names the job
   * of its latest POST.
   */
  async namedAmong(tasks: readonly RowTask[]): Promise<ReadonlySet<RowTask>> {
    const { pool, run, insist } = this.parts;
    const stored = await insist(() =>
      readStored(
        pool,
        run,
        tasks.map(({ row }) => row.id),
      ),
    );
    const isNamed = ({ row: { id }, attempts }: RowTask) =>
      stored.some(({ row, attempt }) => row === id && attempt === attempts);
    return new Set(tasks.filter(isNamed));
  }
}
