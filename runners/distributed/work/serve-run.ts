import { firstValueFrom, merge, timer, type Observable } from 'rxjs';
import type { Answer } from '../store/answer.js';
import type { PieceKind } from '../records/work-queue.js';
import { takeDownloads, takePolls } from '../store/take-due.js';
import { takeSubmits } from '../store/take-submits.js';
import { giveBack } from '../records/worker-record.js';
import type { AnswerWriter } from './answer-writer.js';
import { askJob } from './ask-job.js';
import type { Hands } from './worker-slots.js';
import { isAway } from '../database/database-error.js';
import type { Line } from '../database/database-link.js';
import type { RunDesk } from './served-run.js';
import { savePictureOf } from './row-endings.js';
import { sendRow } from './send-row.js';

/** What the runs of one worker share. */
export interface Workplace {
  readonly worker: string;
  readonly hands: Hands;
  readonly writer: AnswerWriter;
  readonly line: Line;
  /** Something may have changed: a piece is done, or somebody has changed a run. */
  readonly stirred: Observable<unknown>;
  /** Nothing new is begun. */
  readonly leaving: () => boolean;
  readonly faulty: (error: unknown) => void;
  readonly count: (answer: Answer) => void;
}

/** Where nobody says otherwise there is a look at the run so often. */
const idleMs = 500;
/** What is due and was not had: others were faster, or the gate is crowded. */
const crowdedMs = 25;
/** A picture that nobody has begun to save for so long. */
const unsavedMs = 20_000;
/** Rows of one transaction. */
const batchSize = 100;

/** Works on a run until its start is over, there is nothing left to do, or the worker leaves. */
export async function serveRun(desk: RunDesk, place: Workplace): Promise<void> {
  let isUnsure = false;
  while (!place.leaving()) {
    let isThere = false;
    try {
      isThere = (await place.line.look(() => desk.look())) ?? false;
      if (isThere && isUnsure)
        await giveBack(desk.database, desk.run, { ...place, known: place.hands.known });
      isUnsure = false;
      if (!isThere || isOver(desk)) return;
      if ((await turn(desk, place)) > 0) continue;
    } catch (error) {
      if (!isAway(error)) throw error;
      // Whether what was begun was committed is not known.
      isUnsure = true;
    }
    await rest(desk, place);
  }
}

function isOver({ pulse }: RunDesk): boolean {
  const { open, inFlight, submitInMs, pollInMs, downloadInMs, stop } = pulse;
  if (stop?.leaves.includes('polls') === true) return true;
  const hasPieces = pollInMs !== null || downloadInMs !== null || (stop === null && submitInMs !== null);
  return !hasPieces && inFlight === 0 && (stop !== null || open === 0);
}

/** Takes what is due, as much as there are hands for: polls first. */
async function turn(desk: RunDesk, place: Workplace): Promise<number> {
  const { pulse, database, run, parts, terms, book } = desk;
  const { hands, worker } = place;
  const isPaused = desk.gate.pausedMs > 0;
  const isDue = (inMs: number | null): boolean => inMs !== null && inMs <= 0;
  const most = (): number => Math.min(hands.free, batchSize);
  let begun = 0;
  const start = (kind: PieceKind, piece: string, work: () => Promise<Answer>): void => {
    begun += 1;
    begin(desk, place, { kind, piece }, work);
  };
  // Where nobody shares the folder any more, pictures are handed on to the collector.
  const patienceMs = parts.artifacts === undefined ? unsavedMs : 0;
  if (pulse.downloadInMs !== null && pulse.downloadInMs <= -patienceMs)
    for (const due of await takeDownloads(database, run, { most: most(), worker }))
      start('download', due.piece, () => savePictureOf(desk, due));
  if (isPaused) return begun;
  if (isDue(pulse.pollInMs) && most() > 0) {
    const isOpen = pulse.rate === null && !pulse.recovering;
    for (const due of await takePolls(database, run, { most: most(), isOpen }))
      start('poll', due.piece, () => askJob(desk, due));
  }
  const hasRoom = pulse.inFlight < pulse.concurrency && pulse.stop === null;
  if (isDue(pulse.submitInMs) && hasRoom && most() > 0) {
    const { maxPriceDriftPercent } = terms;
    const options = { worker, most: most(), book, maxPriceDriftPercent };
    for (const taken of await takeSubmits(database, run, options))
      start('submit', taken.row.piece, () => sendRow(desk, taken));
  }
  return begun;
}

/** A piece is in hand until what came of it is durable. */
function begin(
  desk: RunDesk,
  { hands, writer, faulty, count }: Workplace,
  { kind, piece }: { kind: PieceKind; piece: string },
  work: () => Promise<Answer>,
): void {
  hands.take(kind, piece, async () => {
    try {
      const answer = await work();
      const isWritten = await writer.write(desk.run, answer);
      if (answer.is === 'accepted' || answer.is === 'ended') await desk.parts.onStep(answer.is);
      count(answer);
      return isWritten;
    } catch (error) {
      // Whether it was sent nobody knows: it stays in this worker's name, and ends as unknown when the worker has left.
      faulty(error);
      return false;
    }
  });
}

/** Until something is due, a hand is free, or somebody says that there is something new. */
async function rest(desk: RunDesk, { hands, stirred }: Workplace): Promise<void> {
  const { pulse, parts } = desk;
  const { scheduler } = parts;
  if (hands.free < 1) {
    await firstValueFrom(hands.freed);
    return;
  }
  const dueIn = [pulse.pollInMs, pulse.stop === null ? pulse.submitInMs : null].flatMap((inMs) =>
    inMs === null ? [] : [Math.max(inMs, crowdedMs)],
  );
  const hasRoom = pulse.inFlight < pulse.concurrency;
  const waitMs = desk.gate.pausedMs > 0 || !hasRoom ? idleMs : Math.min(idleMs, ...dueIn);
  const pollMs =
    desk.gate.pausedMs > 0 || pulse.pollInMs === null ? idleMs : Math.max(pulse.pollInMs, crowdedMs);
  const wait = timer(Math.min(waitMs, pollMs, idleMs), scheduler);
  await firstValueFrom(merge(wait, stirred, hands.freed));
}
