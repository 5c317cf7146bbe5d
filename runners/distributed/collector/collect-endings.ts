import { filter, firstValueFrom, from, lastValueFrom, mergeMap, race, timer } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import type { PaidRow } from '../../batch/row/task.js';
import type { EndedRow, RunState } from '../store/run-store.js';
import { hasIntent, isKept } from './kept-ending.js';
import { keepEnding, type CopiedRow } from './keep-ending.js';
import type { RemoteRun } from './remote-run.js';

const pageRows = 500;
const pauseMs = 200;
/** How often the note saves how far the journal is. Endings collected since are recognised when they are read again. */
const noteMs = 2_000;

/**
 * Journals the endings of workers in their order, until no more can come. Rows without a picture end here; the others go to
 * `save`, at most as many as the pool of pictures holds.
 */
export async function collectEndings(
  run: Run,
  remote: RemoteRun,
  save: (row: PaidRow) => void,
): Promise<void> {
  const { store, ask, note, keepNote } = remote.collection;
  const { scheduler, downloads } = run.options;
  const saving = new Saving(4 * downloads, save);
  let { collected } = note();
  let notedAt = scheduler.now();
  for (;;) {
    // Read in this order, so that each ending the state counts is on a page, and in-flight counts are from after the stop.
    const wasStopping = run.stops.isStopping;
    const state = await remote.look(run);
    if (state.stop !== undefined) run.stops.stop(state.stop);
    const page = await ask(() => store.collect(remote.number, collected, pageRows));
    await keepPage(run, page, saving);
    collected = page.at(-1)?.seq ?? collected;
    const isOver = page.length < pageRows && collected >= state.lastSeq && hasEnded(run, state, wasStopping);
    if (collected > note().collected && (isOver || scheduler.now() - notedAt >= noteMs)) {
      notedAt = scheduler.now();
      await keepNote({ collected });
    }
    if (isOver) break;
    if (page.length < pageRows) await pause(run);
  }
  await saving.all();
}

async function keepPage(run: Run, page: readonly EndedRow[], saving: Saving): Promise<void> {
  const { journal } = run.journal;
  const fresh: CopiedRow[] = [];
  for (const row of page) {
    if (await isKept(journal, row.id, row.ending)) continue;
    fresh.push({ ...row, isIntended: await hasIntent(journal, row) });
  }
  const keeping = from(fresh).pipe(mergeMap((row) => keepEnding(run, row, (unsaved) => saving.add(unsaved))));
  await lastValueFrom(keeping, { defaultValue: undefined });
  await saving.room();
}

/** A stop that leaves polls ends at once: the rest goes on at the workers or waits in the database. Otherwise rows in flight are awaited. */
function hasEnded({ stops }: Run, state: RunState, wasStopping: boolean): boolean {
  const { fedAll, open, inFlight, saving, stop } = state;
  if (!stops.isStopping) return fedAll && open + inFlight + saving === 0;
  return stops.leaves('accepted') || ((wasStopping || stop !== undefined) && inFlight + saving === 0);
}

/** Waits for the next look, or until the run stops. */
async function pause({ stops, options }: Run): Promise<void> {
  const isTime = timer(pauseMs, options.scheduler);
  const stopped = stops.leaving$.pipe(filter((leaving) => leaving !== undefined));
  await firstValueFrom(stops.isStopping ? isTime : race(isTime, stopped));
}

/** Counts the rows whose picture is being saved. */
class Saving {
  private count = 0;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly limit: number,
    private readonly save: (row: PaidRow) => void,
  ) {}

  add(row: Omit<PaidRow, 'free'>): void {
    this.count++;
    this.save({ ...row, free: () => this.free() });
  }

  /** Resolves when there is room for more rows. */
  room(): Promise<void> {
    return this.until(this.limit);
  }

  /** Resolves when no row is left. */
  all(): Promise<void> {
    return this.until(0);
  }

  private async until(most: number): Promise<void> {
    while (this.count > most) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private free(): void {
    this.count--;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
