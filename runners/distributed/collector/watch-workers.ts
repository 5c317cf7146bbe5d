import { catchError, concatMap, defer, EMPTY, timer, type Subscription } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import type { RemoteRun } from './remote-run.js';

const firstMs = 3_000;
const everyMs = 10_000;
/** A worker that was heard of within this time is there. */
const aliveMs = 30_000;
/** A run without workers is named again after so many looks. */
const againAfter = 6;

/** Says when rows wait and nobody works, and does what a worker would do for those that died: ends their doubts. */
export function watchWorkers(run: Run, remote: RemoteRun): Subscription {
  const { store } = remote.collection;
  let idleLooks = 0;
  const look = async (): Promise<void> => {
    const workers = await store.workers();
    const isWorked = workers.some(({ seenMsAgo }) => seenMsAgo < aliveMs);
    const { open, inFlight, saving } = remote.state;
    if (isWorked || open + inFlight + saving === 0) {
      idleLooks = 0;
      return;
    }
    if (idleLooks++ % againAfter === 0)
      run.events.next({ type: 'warning', code: 'workers', message: nobody(open) });
    await store.sweep();
  };
  return timer(firstMs, everyMs, run.options.scheduler)
    .pipe(concatMap(() => defer(look).pipe(catchError(() => EMPTY))))
    .subscribe();
}

function nobody(open: number): string {
  const rows = open > 0 ? `${open} rows wait` : 'Rows are on their way';
  return `${rows}, and no worker is there: start one with millrace worker on the same database.`;
}
