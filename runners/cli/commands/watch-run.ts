import { lastValueFrom, tap } from 'rxjs';
import { runBatch } from '../../batch/run-batch.js';
import { listenForStop } from '../io/listen-for-stop.js';
import { trackConnections } from '../io/track-connections.js';
import { viewRun } from '../progress/view-run.js';
import { agreeToPlan } from './agree-to-plan.js';
import { batchOptions, type StartedRun } from './batch-options.js';
import { tellOutcome } from './tell-outcome.js';

/** Lets a run go to its end while showing where it stands, tells how it ended, and returns its exit code. */
export async function watchRun(run: StartedRun): Promise<number> {
  const connections = trackConnections();
  const stop = listenForStop(run.io);
  const view = viewRun(run.io, run.options);
  let refusal: unknown;
  try {
    const events$ = runBatch({
      ...batchOptions(run),
      stop: stop.orders$,
      async confirm(plan, ahead) {
        view.pause();
        const agreed = agreeToPlan(plan, ahead, run, stop.first);
        return (await agreed.catch((error: unknown) => void (refusal = error))) === 'go';
      },
    });
    const last = await lastValueFrom(events$.pipe(tap((event) => view.look(event))));
    view.close();
    if (refusal !== undefined) throw refusal;
    if (last.type !== 'finished') throw new Error('a run ended without saying how');
    return await tellOutcome(run, last, view.failures());
  } finally {
    view.close();
    stop.close();
    connections.letGo();
  }
}
