import { lastValueFrom, Observable, Subject, takeUntil, type Subscription } from 'rxjs';
import { DiskRoom } from '../disk/disk-room.js';
import { ManifestChangedError } from '../manifest/manifest-error.js';
import { exitOf } from '../stop/exit-of.js';
import { finishRun } from '../end/finish-run.js';
import { keepSummary } from '../end/summary-of.js';
import { refreshSnapshot } from '../journal/recovered-journal.js';
import type { Closers, Opening } from './hold-journal.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import type { RunEvent } from '../context/run-event.js';
import type { Run } from '../context/run.js';
import { stopCauses } from '../stop/stop-causes.js';
import type { Stops } from '../stop/stops.js';

export interface RunParts {
  readonly resolve: () => ResolvedOptions;
  readonly open: (opening: Opening) => Promise<Run>;
  readonly work: (run: Run) => Observable<unknown>;
}

/**
 * Opens a run, does the work, and always ends the run. It never errors. `finished` comes last, once everything is closed and
 * another process can lock the run.
 */
export function withRun(stops: Stops, parts: RunParts): Observable<RunEvent> {
  return new Observable((subscriber) => {
    const events = new Subject<RunEvent>();
    // `events` never completes, so the subscriber is completed only below.
    events.subscribe(subscriber);
    void play(stops, parts, events).then((finished) => {
      subscriber.next(finished);
      subscriber.complete();
    });
  });
}

async function play(
  stops: Stops,
  { resolve, open, work }: RunParts,
  events: Subject<RunEvent>,
): Promise<Extract<RunEvent, { type: 'finished' }>> {
  const closers: Closers = [];
  let orders: Subscription | undefined;
  try {
    const options = resolve();
    orders = obey(options, stops, events);
    const { disk, out, scheduler } = options;
    const room = new DiskRoom({ disk, folder: out, now: () => scheduler.now() });
    const run = await open({ options, stops, events, closers, room });
    const fault = await done(run, work);
    return { type: 'finished', ...(await finishRun(run, fault?.error)) };
  } catch (error) {
    return { type: 'finished', ...notStarted(error, stops) };
  } finally {
    orders?.unsubscribe();
    for (const close of closers.reverse()) await close().catch(() => undefined);
  }
}

/**
 * A snapshot is saved when this share of a large journal is new: a start after a crash then reads no more than that. Snapshots
 * of larger journals take longer.
 */
const snapshotShare = 1 / 8;

/**
 * Does the work, and returns the error that ended it, if any. Meanwhile it saves snapshots of a large journal, so that a start
 * after a crash and the end of the run read only the rest.
 */
async function done(
  run: Run,
  work: (run: Run) => Observable<unknown>,
): Promise<{ error: unknown } | undefined> {
  const { disk, out } = run.options;
  const endSummaries = keepSummary(run, () => refreshSnapshot(disk, out, { share: snapshotShare }));
  try {
    const left = work(run).pipe(takeUntil(run.stops.left('sent')));
    await lastValueFrom(left, { defaultValue: undefined });
    return undefined;
  } catch (error) {
    return { error };
  } finally {
    await endSummaries();
  }
}

/** A second stop order, or one that says `now`, leaves everything at once. */
function obey({ stop }: ResolvedOptions, stops: Stops, events: Subject<RunEvent>): Subscription {
  let orders = 0;
  return stop.subscribe((order) => {
    const { how, exitCode = 130 } = typeof order === 'string' ? { how: order } : order;
    const cause = stopCauses.interrupted(++orders > 1 ? 'now' : how, exitCode);
    stops.stop(cause);
    events.next({ type: 'stopping', exitCode, reason: cause.reason });
  });
}

/** The end of a run that could not be opened. Nothing was sent. */
function notStarted(error: unknown, { end }: Stops): { exitCode: number; reason: string } {
  if (end !== undefined) return end;
  return error instanceof ManifestChangedError
    ? stopCauses.manifestChanged(error.message, false)
    : exitOf(error);
}
