import { defer, finalize } from 'rxjs';
import type { Completed, Failed, Outcome } from '../../../src/contract/outcome.js';
import { flow, lastOf, type Steps } from '../../../src/operators/flow.js';
import { writeThumbnail } from '../artifacts/write-thumbnail.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { endRow, type Ending } from '../end/end-row.js';
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
import { roughBytes, unwritable } from '../sinks/line-text.js';
import type { ArtifactFile } from '../artifacts/save-artifact.js';
import { DiskFault } from '../disk/disk-fault.js';
import type { OutputFile, SavedOutputs } from '../journal/record.js';
import { noteAddress, noteNoPicture, noteOutput, noteProblems } from '../pictures/note-picture.js';
import { saveOutputs } from '../pictures/save-outputs.js';
import { leftFile, wantedOutputs, type WantedOutputs } from '../pictures/wanted-outputs.js';
import { noteDiskFault } from '../stop/exit-of.js';

/**
 * Makes the end of a job durable: its reply, and its outcome if no picture is to be downloaded. Completes when the row's lines
 * are written too. An output that cannot be written as JSON is replaced by the reason, so that a paid reply is never lost.
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
  const bytes = roughBytes(outcome.output);
  if (bytes < largeBytes) return yield* endCompleted(context, row, outcome);
  yield defer(() => {
    const free = context.service.replies.hold(bytes);
    return flow(() => endCompleted(context, row, outcome, free)).pipe(finalize(free));
  });
}

/** A larger output takes room until its row is in the files, so that polls bring no more than a slow disk can take. */
const largeBytes = 64 * 1024;

function* endCompleted(
  context: PurchaseContext,
  row: RowInFlight,
  outcome: Completed<unknown>,
  written?: () => void,
): Steps<never> {
  const { options } = context;
  const taken = yield* takeOutputs(context, row.progress.facts, outcome.output);
  try {
    yield* endAs(context, row, { ...completedEnding(context, row, outcome, taken), written });
  } catch (error) {
    if (!(error instanceof UnfitRecord)) throw error;
    const unfit = { ...taken, output: unwritable(error.cause) };
    yield* endAs(context, row, { ...completedEnding(context, row, outcome, unfit), written });
  }
  // Thumbnails are made only after the reply is durable: a process that dies before that would leave a paid row without
  // a known end.
  for (const file of taken.made)
    yield* lastOf(writeThumbnail(options.disk, options.out, file, options.makeThumbnail));
}

/** The row gets these records and their state only after its end is reported. */
function* endAs(context: PurchaseContext, row: RowInFlight, ending: Ending): Steps<never> {
  yield* lastOf(endRow(context, ending));
  for (const record of ending.records) row.take(record);
}

function completedEnding(
  { options, money }: PurchaseContext,
  { progress }: RowInFlight,
  completed: Completed<unknown>,
  { output, imageUrl, saved, files, isUnsaved }: TakenOutputs,
): Ending {
  const at = options.scheduler.now();
  const cost = costOfCompleted(progress, completed, money.prices);
  const reply = replyRecord(progress, completed, { at, output, imageUrl, ...saved, ...cost });
  const { facts, intent } = progress;
  // The reply of /runsync is the first one that carries the id.
  const jobId = progress.jobId ?? (completed.jobId === '' ? undefined : completed.jobId);
  const records: RowRecord[] = isRead(facts) && intent ? [intent, reply] : [reply];
  const ending = { row: facts.row, intent, reply, bought: { facts, cost } };
  const isElsewhere =
    imageUrl !== undefined || files.some(({ path, url }) => path === undefined && url !== undefined);
  if ((isElsewhere && options.download) || isUnsaved === true) return { records, ...ending };
  const outcome = completedRecord(reply, { at, ...saved, files, ...purchaseOf({ ...progress, jobId }, at) });
  return { records: [...records, outcome], ...ending };
}

function failedEnding(context: PurchaseContext, row: RowInFlight, failed: Failed): Ending {
  const { progress } = row;
  const { facts, intent } = progress;
  const at = context.options.scheduler.now();
  const cost = costOfFailed(progress, failed);
  const outcome = outcomeOfFailed(progress, failed, { at, ...cost });
  // The intent of a read is not in the journal, from which the line may be written anew.
  const purchase = isRead(facts) ? undefined : intent;
  return { row: facts.row, intent: purchase, records: [outcome], bought: { facts, cost } };
}

/** The purchase ends as unknown, and the row continues with another purchase. */
function boughtAgain({ records, ...ending }: Ending): Ending {
  const reopened = records.map(({ at, id }) => reopenRecord({ id }, { at, why: 'retry', to: 'buy' }));
  return { ...ending, records: [...records, ...reopened] };
}

/** The output of a completed job, without the pictures and files that it contained as base64 text. */
interface TakenOutputs {
  readonly output: unknown;
  readonly imageUrl?: string | undefined;
  readonly saved: SavedOutputs;
  /** The files that were asked for, saved or not. */
  readonly files: readonly OutputFile[];
  /** The files that were saved just now. */
  readonly made: readonly ArtifactFile[];
  /** A picture or file is still in the output, because the disk failed or another process saves it. */
  readonly isUnsaved?: true;
}

/** Saves the pictures and files that are in the reply itself before the reply is journalled, because their text may be long. */
function* takeOutputs(
  context: PurchaseContext,
  facts: RowFacts,
  output: unknown,
): Steps<never, TakenOutputs> {
  const { paths, areSaved } = context.pictures;
  const wanted = wantedOutputs({ output }, { request: facts.request, paths });
  const { picture, files } = wanted;
  if (picture === undefined && files.length === 0) noteNoPicture(context, facts);
  if (picture?.url !== undefined) noteAddress(context, facts, picture.url);
  const left = { output, imageUrl: picture?.url, saved: {}, files: files.map(leftFile), made: [] };
  noteProblems(context, facts, left.files);
  const isEncoded = [picture, ...files.map(({ found }) => found)].some((one) => one?.bytes !== undefined);
  if (!isEncoded) return left;
  if (!areSaved) return { ...left, isUnsaved: true };
  return (yield* lastOf(saveEncoded(context, facts, { wanted, left }))) ?? { ...left, isUnsaved: true };
}

async function saveEncoded(
  context: PurchaseContext,
  facts: RowFacts,
  { wanted, left }: { readonly wanted: WantedOutputs; readonly left: TakenOutputs },
): Promise<TakenOutputs> {
  const { disk, out } = context.options;
  const made: ArtifactFile[] = [];
  const place = { disk, folder: out, id: facts.id, collides: context.pictures.names.collides(facts.id) };
  const keep = (file: ArtifactFile, saved: OutputFile | NonNullable<SavedOutputs['image']>) => {
    made.push(file);
    noteOutput(context, facts, file, saved);
    return Promise.resolve();
  };
  try {
    const end = await saveOutputs({ output: left.output }, wanted, { place, keep });
    if (end === 'left') return { ...left, isUnsaved: true };
    const { output, ...saved } = end.reply;
    return { ...left, output, saved, files: end.files, made };
  } catch (error) {
    if (!(error instanceof DiskFault)) throw error;
    // The reply is paid for: it is journalled as it came, if possible, and its picture is saved later.
    noteDiskFault(context, error);
    return { ...left, isUnsaved: true };
  }
}
