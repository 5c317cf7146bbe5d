import { catchError, concatMap, defer, EMPTY, timer } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import {
  deadAfterMs,
  describeSilence,
  graceMs,
  readWorkers,
  silentAfterMs,
  SteadyDatabase,
  sweep,
  sweepMs,
  type WorkerState,
} from '../table/worker-record.js';
import type { RemoteRun } from './remote-run.js';

const firstMs = 3_000;
const everyMs = 2_000;
/** A worker counts as present for this long after a heartbeat. */
const aliveMs = 30_000;
/** A worker that works on the run has a seat within this time. */
const seatMs = 10_000;
/** The warning about a run without workers is repeated after this time. */
const againMs = 60_000;

/**
 * Warns when rows wait without a worker, and when workers stop sending heartbeats. Also releases the rows of dead workers, as
 * workers do.
 */
export function watchWorkers(run: Run, remote: RemoteRun, workerCommand?: string): { end(): Promise<void> } {
  const { scheduler } = run.options;
  const { database } = remote;
  const warn = (message: string) => run.events.next({ type: 'warning', code: 'workers', message });
  const silent = new SilentWorkers((worker, message) => {
    const { worker: id, host, pid } = worker;
    run.log.write('warn', { worker: id, host, pid }, message);
    warn(message);
  });
  const steady = new SteadyDatabase(database, () => scheduler.now());
  let warnedAt = -Infinity;
  let unservedSince: number | undefined;
  const look = async (): Promise<void> => {
    await steady.look();
    const workers = await readWorkers(database.pool);
    if (steady.isSteadyFor(silentAfterMs)) silent.look(workers);
    if (!steady.isSteadyFor(graceMs)) return;
    const { open, inFlight, workers: seated } = remote.state;
    const there = workers.filter(isThere).length;
    const isUnserved = there === 0 ? open + inFlight > 0 : open > 0 && seated === 0;
    const now = scheduler.now();
    unservedSince = isUnserved ? (unservedSince ?? now) : undefined;
    if (unservedSince === undefined || now - unservedSince < (there > 0 ? seatMs : 0)) warnedAt = -Infinity;
    else if (now - warnedAt >= againMs) {
      warnedAt = now;
      warn(nobodyServes(open, there, workerCommand));
    }
    if (steady.areSilentOnesDead) await sweep(database);
  };
  const looking = timer(firstMs, everyMs, scheduler)
    .pipe(concatMap(() => defer(look).pipe(catchError(() => EMPTY))))
    .subscribe();
  return {
    end: async () => {
      looking.unsubscribe();
      // The released rows may have ended the run.
      if (!silent.isWaiting) return;
      const workers = await readWorkers(database.pool).catch(() => undefined);
      if (workers !== undefined) silent.look(workers);
    },
  };
}

function nobodyServes(open: number, there: number, workerCommand: string | undefined): string {
  const rows = open > 0 ? `${open} ${open === 1 ? 'row waits' : 'rows wait'}` : 'Rows are on their way';
  const start = workerCommand === undefined ? '' : ` Start one: \`${workerCommand}\``;
  const why =
    there === 0
      ? 'no worker is running'
      : `none of the running workers (${there}) works on this run: they were given other hosts, or do not know its settings. Their output names the reason`;
  return `${rows}, but ${why}.${start}`;
}

function isThere({ seenMsAgo }: WorkerState): boolean {
  return seenMsAgo < aliveMs;
}

/** Reports once that a worker is silent, and once that it is back or other workers have its rows. */
export class SilentWorkers {
  private readonly numbers = new Map<string, number>();
  /** The reported workers, as they were then; `undefined` once other workers have their rows. */
  private readonly reported = new Map<string, WorkerState | undefined>();

  constructor(private readonly report: (worker: WorkerState, message: string) => void) {}

  /** Whether other workers do not have the rows of a reported worker yet. */
  get isWaiting(): boolean {
    return [...this.reported.values()].some((worker) => worker !== undefined);
  }

  look(workers: readonly WorkerState[]): void {
    for (const worker of workers) {
      const { worker: id, seenMsAgo } = worker;
      if (!this.numbers.has(id)) this.numbers.set(id, this.numbers.size + 1);
      if (seenMsAgo < silentAfterMs) this.back(worker);
      else if (!this.reported.has(id)) this.silent(worker);
    }
    for (const [id, before] of this.reported) {
      const now = workers.find(({ worker }) => worker === id);
      if (before !== undefined && (now === undefined || isReleased(now))) this.released(before, workers);
    }
  }

  /** Does not report a worker that died before this start and has no rows. */
  private silent(worker: WorkerState): void {
    const isOld = worker.rows === 0 && worker.seenMsAgo >= deadAfterMs + sweepMs;
    this.reported.set(worker.worker, worker.rows === 0 ? undefined : worker);
    if (!isOld) this.report(worker, `${this.nameOf(worker)} has been ${describeSilence(worker)}`);
  }

  private back(worker: WorkerState): void {
    if (this.reported.get(worker.worker) !== undefined) this.report(worker, `${this.nameOf(worker)} is back`);
    this.reported.delete(worker.worker);
  }

  private released(before: WorkerState, workers: readonly WorkerState[]): void {
    this.reported.set(before.worker, undefined);
    const { rows } = before;
    const its = rows === 1 ? 'its row' : `its ${rows} rows`;
    const what = workers.some(isThere)
      ? `${its} ${rows === 1 ? 'has' : 'have'} gone on`
      : `${its} ${rows === 1 ? 'waits' : 'wait'} for another worker`;
    this.report(before, `${this.nameOf(before)} is declared dead: ${what}`);
  }

  private nameOf({ worker, host }: WorkerState): string {
    return `worker ${this.numbers.get(worker) ?? 0} on host ${host}`;
  }
}

/** Whether other workers have its rows. */
function isReleased({ rows, seenMsAgo }: WorkerState): boolean {
  return rows === 0 && seenMsAgo >= silentAfterMs;
}
