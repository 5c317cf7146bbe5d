import { asyncScheduler, catchError, concatMap, defer, expand, of, type SchedulerLike, timer } from 'rxjs';
import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { type PageParts, readPageParts } from '../render-page.js';
import { whoHolds } from '../../batch/lock/owner.js';
import { JournalTail } from './journal-tail.js';
import { RunSnapshot } from './run-snapshot.js';
import { readLiveState } from './live-state.js';
import { isRunning, viewFlight } from './view-flight.js';
import { WatchServer } from './watch-server.js';

interface WatchRunOptions {
  /** @defaultValue 0: any free port */
  readonly port?: number;
  /**
   * How often the files are checked, in ms; if reading them takes long, less often, so that it takes a fifth of the time.
   * @defaultValue 1000
   */
  readonly everyMs?: number;
  /** @defaultValue the real disk */
  readonly disk?: Disk;
  /** @defaultValue the parts that came with the package */
  readonly parts?: PageParts;
  /** @defaultValue asyncScheduler */
  readonly scheduler?: SchedulerLike;
}

export interface Watch {
  /** The address of the page, on this machine only. */
  readonly url: string;
  /** Closes all connections and stops checking. */
  close(): Promise<void>;
}

/**
 * Serves the report of a run on loopback, and keeps open pages up to date while any process runs it, also after a new start.
 * Only reads files.
 *
 * @throws the system's error if the port cannot be opened, the disk's if the folder cannot be read the first time
 */
export async function watchRun(folder: string, options: WatchRunOptions = {}): Promise<Watch> {
  const { port = 0, disk = nodeDisk, everyMs = 1000, scheduler = asyncScheduler } = options;
  const server = new WatchServer({ disk, folder, parts: options.parts ?? (await readPageParts()) });
  const tail = new JournalTail(disk, folder);
  let state = '';
  let snapshot: RunSnapshot | undefined;

  async function look(): Promise<number> {
    const began = scheduler.now();
    await tail.look();
    const owner = await whoHolds(disk, folder);
    const live = await readLiveState(disk, folder, scheduler.now());
    const goes = isRunning({ tail, owner });
    const now = `${tail.starts} ${tail.exitCode ?? ''} ${goes} ${live?.rows ?? ''} ${await fileSizes(disk, folder)}`;
    const isNew = snapshot === undefined || now !== state;
    if (snapshot === undefined || isNew)
      snapshot = await RunSnapshot.take(disk, folder, goes, goes ? live?.rows : undefined);
    state = now;
    const flight = viewFlight({ tail, owner, live, survey: snapshot.survey, now: scheduler.now() });
    if (isNew) server.show(snapshot, flight);
    else server.showFlight(flight);
    return scheduler.now() - began;
  }

  await look();
  const url = await server.listen(port);

  // If a check fails, because a file is just being replaced, the next one repeats it. Slow checks are made less often.
  const looking = of(0)
    .pipe(
      expand((tookMs) =>
        timer(Math.max(everyMs, tookMs * 4), scheduler).pipe(
          concatMap(() => defer(look).pipe(catchError(() => of(0)))),
        ),
      ),
    )
    .subscribe();
  return {
    url,
    async close() {
      looking.unsubscribe();
      await server.close();
    },
  };
}

const names = ['results.jsonl', 'failures.jsonl', 'earlier.jsonl', 'costs.csv', 'summary.json'];

/** Changes whenever the run's files about ended rows have grown or were replaced. */
async function fileSizes(disk: Disk, folder: string): Promise<string> {
  const sizes = await Promise.all(
    names.map(async (name) => (await disk.stat(join(folder, name)))?.size ?? 0),
  );
  return sizes.join(' ');
}
