import { firstValueFrom, merge, timer, type Observable } from 'rxjs';
import type { Answer } from '../store/answer.js';
import type { WorkKind } from '../records/work-queue.js';
import { takeDownloads, takePolls } from '../store/take-due.js';
import { takeSubmits } from '../store/take-submits.js';
import { giveBack } from '../records/worker-record.js';
import type { AnswerWriter } from './answer-writer.js';
import { askJob } from './ask-job.js';
import type { WorkerSlots } from './worker-slots.js';
import { isAway } from '../database/database-error.js';
import type { DatabaseLink } from '../database/database-link.js';
import type { ServedRun } from './served-run.js';
import { savePictureOf } from './row-endings.js';
import { sendRow } from './send-row.js';

/** What all runs of one worker share. */
export interface WorkerContext {
  readonly worker: string;
  readonly slots: WorkerSlots;
  readonly writer: AnswerWriter;
  readonly link: DatabaseLink;
  /** Emits when a worker or a collector has changed a run. */
  readonly changed: Observable<unknown>;
  /** Whether the worker is leaving, so that it begins nothing new. */
  readonly leaving: () => boolean;
  readonly reportFault: (error: unknown) => void;
  readonly count: (answer: Answer) => void;
}

/** How often the run is looked at when nothing calls for it earlier. */
const idleMs = 500;
/** The least wait for an item that is due but was not taken: other workers were faster, or the gate is crowded. */
const crowdedMs = 25;
/** A picture that no worker began to save within this time is taken by a worker without the folder, and left to the collector. */
const unsavedMs = 20_000;
/** Rows in one transaction. */
const batchSize = 100;

/** Works on a run until its start is over, nothing is left to do, or the worker leaves. */
export async function serveRun(served: ServedRun, context: WorkerContext): Promise<void> {
  let isUnsure = false;
  while (!context.leaving()) {
    let isThere = false;
    try {
      isThere = (await context.link.look(() => served.look())) ?? false;
      if (isThere && isUnsure)
        await giveBack(served.database, served.run, { ...context, known: context.slots.known });
      isUnsure = false;
      if (!isThere || isOver(served)) return;
      if ((await takeDueWork(served, context)) > 0) continue;
    } catch (error) {
      if (!isAway(error)) throw error;
      // The connection broke: a take may have been committed without an answer.
      isUnsure = true;
    }
    await waitForWork(served, context);
  }
}

function isOver({ pulse }: ServedRun): boolean {
  const { open, inFlight, submitInMs, pollInMs, downloadInMs, stop } = pulse;
  if (stop?.leaves.includes('accepted') === true) return true;
  const hasItems = pollInMs !== null || downloadInMs !== null || (stop === null && submitInMs !== null);
  return !hasItems && inFlight === 0 && (stop !== null || open === 0);
}

/** Takes as much due work as there are free slots, polls before submits. Returns how many items were begun. */
async function takeDueWork(served: ServedRun, context: WorkerContext): Promise<number> {
  const { pulse, database, run, settings, terms, book } = served;
  const { slots, worker } = context;
  const isPaused = served.gate.pausedMs > 0;
  const isDue = (inMs: number | null): boolean => inMs !== null && inMs <= 0;
  const most = (): number => Math.min(slots.free, batchSize);
  let begun = 0;
  const start = (kind: WorkKind, item: string, work: () => Promise<Answer>): void => {
    begun += 1;
    begin(served, context, { kind, item }, work);
  };
  // A worker without the folder only hands pictures on to the collector that no other worker has begun to save.
  const patienceMs = settings.artifacts === undefined ? unsavedMs : 0;
  if (pulse.downloadInMs !== null && pulse.downloadInMs <= -patienceMs)
    for (const due of await takeDownloads(database, run, { most: most(), worker }))
      start('download', due.item, () => savePictureOf(served, due));
  if (isPaused) return begun;
  if (isDue(pulse.pollInMs) && most() > 0) {
    const isOpen = pulse.rate === null && !pulse.recovering;
    for (const due of await takePolls(database, run, { most: most(), isOpen }))
      start('poll', due.item, () => askJob(served, due));
  }
  const hasRoom = pulse.inFlight < pulse.concurrency && pulse.stop === null;
  if (isDue(pulse.submitInMs) && hasRoom && most() > 0) {
    const { maxPriceDriftPercent } = terms;
    const options = { worker, most: most(), book, maxPriceDriftPercent };
    for (const taken of await takeSubmits(database, run, options))
      start('submit', taken.row.item, () => sendRow(served, taken));
  }
  return begun;
}

/** The item occupies a slot until its answer is durable. */
function begin(
  served: ServedRun,
  { slots, writer, reportFault, count }: WorkerContext,
  { kind, item }: { kind: WorkKind; item: string },
  work: () => Promise<Answer>,
): void {
  slots.take(kind, item, async () => {
    try {
      const answer = await work();
      const isWritten = await writer.write(served.run, answer);
      if (answer.is === 'accepted' || answer.is === 'ended') await served.settings.onStep(answer.is);
      count(answer);
      return isWritten;
    } catch (error) {
      // It is not known whether it was sent: the row stays with this worker, and ends as unknown once the worker has left.
      reportFault(error);
      return false;
    }
  });
}

/** Waits until something is due, a slot is free, or a run has changed. */
async function waitForWork(served: ServedRun, { slots, changed }: WorkerContext): Promise<void> {
  const { pulse, settings } = served;
  const { scheduler } = settings;
  if (slots.free < 1) {
    await firstValueFrom(slots.freed);
    return;
  }
  const dueIn = [pulse.pollInMs, pulse.stop === null ? pulse.submitInMs : null].flatMap((inMs) =>
    inMs === null ? [] : [Math.max(inMs, crowdedMs)],
  );
  const hasRoom = pulse.inFlight < pulse.concurrency;
  const waitMs = served.gate.pausedMs > 0 || !hasRoom ? idleMs : Math.min(idleMs, ...dueIn);
  const pollMs =
    served.gate.pausedMs > 0 || pulse.pollInMs === null ? idleMs : Math.max(pulse.pollInMs, crowdedMs);
  const wait = timer(Math.min(waitMs, pollMs, idleMs), scheduler);
  await firstValueFrom(merge(wait, changed, slots.freed));
}
