import type { Completed, Failed, Outcome } from '../../../src/contract/outcome.js';
import { lastOf, type Steps } from '../../../src/operators/flow.js';
import { writeThumbnail } from '../artifacts/write-thumbnail.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { leave, type Ending } from '../end/end-row.js';
import { UnfitRecord } from '../journal/line/record-line.js';
import { costOfCompleted, costOfFailed } from '../row/costs.js';
import type { RowRecord } from '../row/record-head.js';
import {
  completedRecord,
  outcomeOfFailed,
  purchaseOf,
  reopenRecord,
  replyRecord,
} from '../row/records-of.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import { isRead, type RowFacts } from '../row/task.js';
import { unwritable } from '../sinks/line-json.js';
import { findPicture, replaceAt, type FoundPicture } from '../artifacts/find-picture.js';
import { savePicture, type PictureFile } from '../artifacts/save-picture.js';
import { DiskFault } from '../disk/disk-fault.js';
import type { SavedImage } from '../journal/record.js';
import { noteNoPicture, notePicture } from '../pictures/note-picture.js';
import { noteDiskFault } from '../stop/exit-of.js';

/**
 * Makes durable how a job ended: its reply, and with it the outcome where no picture is to be downloaded. Over when the row's
 * lines are written as well. A paid reply is never lost because its output cannot be written: the reason takes the output's place.
 */
export function* endPurchase(
  context: PurchaseContext,
  row: RowInFlight,
  { outcome, isDouble }: { readonly outcome: Outcome<unknown>; readonly isDouble: boolean },
): Steps<never> {
  if (outcome.status === 'failed') {
    const ending = failedEnding(context, row, outcome);
    return yield* endAs(context, row, isDouble ? boughtAgain(ending) : ending);
  }
  const { options } = context;
  const taken = yield* takePicture(context, row.progress.facts, outcome.output);
  try {
    yield* endAs(context, row, completedEnding(context, row, outcome, taken));
  } catch (error) {
    if (!(error instanceof UnfitRecord)) throw error;
    const unfit = { ...taken, output: unwritable(error.cause) };
    yield* endAs(context, row, completedEnding(context, row, outcome, unfit));
  }
  // Made only after the reply is durable: a process that dies before that would leave a paid row without a known end.
  if (taken.file !== undefined)
    yield* lastOf(writeThumbnail(options.disk, options.out, taken.file, options.makeThumbnail));
}

/** The row is in the state that these records lead to once it is reported. */
function* endAs(context: PurchaseContext, row: RowInFlight, ending: Ending): Steps<never> {
  yield* leave(context, ending);
  for (const record of ending.records) row.take(record);
}

function completedEnding(
  { options, money }: PurchaseContext,
  { progress }: RowInFlight,
  completed: Completed<unknown>,
  { output, imageUrl, image, isUnsaved }: TakenPicture,
): Ending {
  const at = options.scheduler.now();
  const cost = costOfCompleted(progress, completed, money.prices);
  const reply = replyRecord(progress, completed, { at, output, imageUrl, image, ...cost });
  const { facts, intent } = progress;
  // A reply of /runsync is the first that has the id.
  const jobId = progress.jobId ?? (completed.jobId === '' ? undefined : completed.jobId);
  const records: RowRecord[] = isRead(facts) && intent ? [intent, reply] : [reply];
  const ending = { row: facts.row, intent, reply, bought: { facts, cost } };
  if ((imageUrl !== undefined && options.download) || isUnsaved === true) return { ...ending, records };
  const outcome = completedRecord(reply, { at, image, ...purchaseOf({ ...progress, jobId }, at) });
  return { ...ending, records: [...records, outcome] };
}

function failedEnding(context: PurchaseContext, row: RowInFlight, failed: Failed): Ending {
  const { progress } = row;
  const { facts, intent } = progress;
  const at = context.options.scheduler.now();
  const cost = costOfFailed(progress, failed);
  const outcome = outcomeOfFailed(progress, failed, { at, ...cost });
  return { row: facts.row, intent, records: [outcome], bought: { facts, cost } };
}

/** The purchase ends as unknown, and the row goes on with another one. */
function boughtAgain({ records, ...ending }: Ending): Ending {
  const reopened = records.map(({ at, id }) => reopenRecord({ id }, { at, why: 'retry', to: 'buy' }));
  return { ...ending, records: [...records, ...reopened] };
}

/** The output of a completed job, with its picture taken out. */
export interface TakenPicture {
  readonly output: unknown;
  /** Where the picture lies. */
  readonly imageUrl?: string;
  readonly image?: SavedImage;
  readonly file?: PictureFile;
  /** The picture is in the output still: the disk failed, or another process saves it. */
  readonly isUnsaved?: true;
}

/** Saves a picture that is in the reply itself, before the reply is journalled: its text may be long. */
export function* takePicture(
  context: PurchaseContext,
  facts: RowFacts,
  output: unknown,
): Steps<never, TakenPicture> {
  const found = findPicture(output, facts.kind);
  if (found === undefined) {
    noteNoPicture(context, facts);
    return { output };
  }
  if ('url' in found) return { output, imageUrl: found.url };
  if (!context.pictures.areSaved) return { output, isUnsaved: true };
  return (yield* lastOf(saveEncoded(context, facts, output, found))) ?? { output, isUnsaved: true };
}

async function saveEncoded(
  context: PurchaseContext,
  facts: RowFacts,
  output: unknown,
  { bytes, at }: Extract<FoundPicture, { bytes: Buffer }>,
): Promise<TakenPicture> {
  const { disk, out } = context.options;
  const place = { disk, folder: out, id: facts.id, collides: context.pictures.names.collides(facts.id) };
  try {
    const file = await savePicture((write) => write(bytes), place);
    const image = { path: file.path, bytes: file.bytes, sha256: file.sha256 };
    notePicture(context, facts, file, image);
    return { output: replaceAt(output, at, file.path), image, file };
  } catch (error) {
    if (!(error instanceof DiskFault)) throw error;
    // The reply is paid for: it is journalled as it came, if it can be, and its picture is taken out of it later.
    noteDiskFault(context, error);
    return { output, isUnsaved: true };
  }
}
