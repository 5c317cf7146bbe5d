import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  merge,
  tap,
  type Observable,
} from 'rxjs';
import { failureCodes } from '../../../src/contract/failure-code.js';
import type { Completed, Failed, Outcome } from '../../../src/contract/outcome.js';
import { findPicture, replaceAt, type FoundPicture } from '../artifacts/find-picture.js';
import { savePicture, type PictureFile } from '../artifacts/save-picture.js';
import { writeThumbnail } from '../artifacts/write-thumbnail.js';
import { DiskFault } from '../disk/disk-fault.js';
import { UnfitRecord } from '../journal/line/record-line.js';
import type { ReplyRecord, SavedImage } from '../journal/record.js';
import { unwritable } from '../sinks/line-json.js';
import { endRow, noteDiskFault, tellMoney } from '../end/end-row.js';
import { notePrice, whyDisbelieved } from './note-price.js';
import { noteNoPicture } from './note-no-picture.js';
import { notePicture } from '../pictures/note-picture.js';
import {
  completedRecord,
  costOfCompleted,
  costOfFailed,
  failedRecord,
  failedRow,
  purchaseOf,
  replyRecord,
  rowError,
  type Cost,
} from '../row/records-of.js';
import type { RowRun } from '../row/row-run.js';
import type { Run } from '../context/run.js';
import { isRead } from '../row/task.js';

/**
 * Makes durable how a job ended: its reply, and with it the outcome where no picture is to be downloaded. What is no
 * outcome of the row, a refusal or a key that is not taken, leaves the row to be done.
 */
export function keepOutcome(run: Run, row: RowRun, outcome: Outcome<unknown>): Observable<unknown> {
  if (outcome.status === 'completed') return keepReply(run, row, outcome);
  if (failureCodes[outcome.code].scope === 'stop') {
    if (outcome.paid === 'no') run.ledger.release(row.id);
    return EMPTY;
  }
  return isSentAgain(run, row, outcome) ? keepDoubt(run, row, outcome) : keepFailure(run, row, outcome);
}

/** Whether a request that may have been accepted is sent once more, because the user prefers to risk paying twice. */
function isSentAgain(run: Run, row: RowRun, outcome: Outcome<unknown>): boolean {
  const { onUnknown, retries } = run.options;
  const isDoubt = outcome.status === 'failed' && outcome.code === 'unknown' && row.task.what === 'send';
  return isDoubt && onUnknown === 'retry' && row.doubles < retries && !run.stops.leaves('submits');
}

/** A paid reply is never lost because its output cannot be written: the reason takes the output's place. */
function keepReply(run: Run, row: RowRun, completed: Completed<unknown>): Observable<unknown> {
  return from(takePicture(run, row, completed)).pipe(
    concatMap((taken) =>
      keepTaken(run, row, completed, taken).pipe(
        catchError((error: unknown) => {
          if (!(error instanceof UnfitRecord)) throw error;
          return keepTaken(run, row, completed, { ...taken, output: unwritable(error.cause) });
        }),
      ),
    ),
  );
}

function keepTaken(
  run: Run,
  row: RowRun,
  completed: Completed<unknown>,
  { output, imageUrl, image, file, isUnsaved }: Taken,
): Observable<unknown> {
  return defer(() => {
    const at = run.options.scheduler.now();
    const cost = costOfCompleted(row, completed, run.prices);
    // A reply of /runsync is the first that tells it.
    if (completed.jobId !== '') row.jobId ??= completed.jobId;
    const reply = replyRecord(row, completed, { at, output, imageUrl, image, ...cost });
    const isToFetch = imageUrl !== undefined && run.options.download;
    const durable =
      isToFetch || isUnsaved === true
        ? replied(run, row, reply, isToFetch)
        : completedAtOnce(run, row, reply, image);
    return concat(
      durable.pipe(tap({ complete: () => conclude(run, row, cost) })),
      file === undefined ? EMPTY : makeSmall(run, file),
    );
  });
}

/** Runs only after the reply is durable: a process that dies before that would leave a paid row without a known end. */
function makeSmall(run: Run, file: PictureFile): Observable<never> {
  const { disk, out, makeThumbnail } = run.options;
  return defer(() => writeThumbnail(disk, out, file, makeThumbnail)).pipe(ignoreElements());
}

/** The paid slot is free once this is durable; the picture is fetched outside of it. */
function replied(run: Run, row: RowRun, reply: ReplyRecord, isToFetch: boolean): Observable<unknown> {
  const records = isRead(row.row) && row.intent ? [row.intent, reply] : [reply];
  return defer(() => merge(...records.map((record) => run.journal.append(record)))).pipe(
    ignoreElements(),
    tap({ complete: () => (row.reply = isToFetch ? reply : undefined) }),
  );
}

function completedAtOnce(
  run: Run,
  row: RowRun,
  reply: ReplyRecord,
  image: SavedImage | undefined,
): Observable<unknown> {
  const outcome = completedRecord(reply, { at: reply.at, image, ...purchaseOf(row, reply.at) });
  const before = isRead(row.row) && row.intent ? [row.intent, reply] : [reply];
  return endRow(run, { intent: row.intent, reply, outcome, before, row: row.row.row });
}

function keepFailure(run: Run, row: RowRun, failed: Failed): Observable<unknown> {
  const cost = costOfFailed(row, failed);
  const outcome = failedOutcome(run, row, failed, cost);
  return endRow(run, { intent: row.intent, outcome, row: row.row.row }).pipe(
    tap({ complete: () => conclude(run, row, cost) }),
  );
}

/** The purchase ends as unknown; the row goes on with another one. */
function keepDoubt(run: Run, row: RowRun, failed: Failed): Observable<unknown> {
  const outcome = failedOutcome(run, row, failed, costOfFailed(row, failed));
  const { at, id } = outcome;
  const written = run.journal
    .append(outcome)
    .pipe(
      concatMap((record) =>
        run.projections
          .writeCost({ intent: row.intent, outcome }, record)
          .catch((error: unknown) => noteDiskFault(run, error)),
      ),
    );
  const reopened = run.journal.append({ k: 'reopen', at, id, why: 'retry', to: 'buy' });
  return merge(written, reopened).pipe(
    tap({
      complete: () => {
        row.doubles++;
        run.ledger.keepUnknown(id);
        row.enter('waiting');
        const message = `Row "${id}" is sent again, though it may have been accepted: it may be paid twice.`;
        run.events.next({ type: 'warning', code: 'double', message });
      },
    }),
  );
}

function failedOutcome(run: Run, row: RowRun, failed: Failed, cost: Cost) {
  const at = run.options.scheduler.now();
  const jobId = failed.jobId ?? row.jobId;
  const bought = row.intent === undefined || isRead(row.row) ? { row: failedRow(row.row) } : {};
  if (jobId !== undefined && row.jobId === undefined) row.jobId = jobId;
  return failedRecord(row.id, rowError(failed), {
    ...{ at, ...cost, jobId, submittedAt: row.submittedAt, statusCalls: row.statusCalls() },
    ...purchaseOf(row, at),
    ...bought,
  });
}

/** Books the cost; what may have been bought is held. */
function conclude(run: Run, row: RowRun, booked: Cost): void {
  const { cost, source } = booked;
  row.enter('ended');
  if (source === 'unknown') run.ledger.keepUnknown(row.id);
  else if (source !== 'none') run.ledger.settle(row.id, cost);
  if (source === 'reported' && cost !== null) notePrice(run, row.row, cost);
  const cause = whyDisbelieved(row.row, booked);
  if (cause !== undefined) run.stops.stop(cause);
  tellMoney(run);
}

interface Taken {
  readonly output: unknown;
  readonly imageUrl?: string;
  readonly image?: SavedImage;
  readonly file?: PictureFile;
  /** The picture is in the output still: the disk failed. */
  readonly isUnsaved?: true;
}

/** A picture in the reply itself is saved before the reply is journalled: its text may be long. */
async function takePicture(run: Run, row: RowRun, { output }: Completed<unknown>): Promise<Taken> {
  const found = findPicture(output, row.row.kind);
  if (found === undefined) {
    noteNoPicture(run, row.row);
    return { output };
  }
  if ('url' in found) return { output, imageUrl: found.url };
  return saveEncoded(run, row, output, found);
}

async function saveEncoded(
  run: Run,
  row: RowRun,
  output: unknown,
  { bytes, at }: Extract<FoundPicture, { bytes: Buffer }>,
): Promise<Taken> {
  const { disk, out } = run.options;
  const { id } = row;
  try {
    const file = await savePicture((write) => write(bytes), {
      disk,
      folder: out,
      id,
      collides: run.names.collides(id),
    });
    const image = { path: file.path, bytes: file.bytes, sha256: file.sha256 };
    notePicture(run, row.row, file, image);
    return { output: replaceAt(output, at, file.path), image, file };
  } catch (error) {
    if (!(error instanceof DiskFault)) throw error;
    // The reply is paid for: it is journalled as it came, if it can be, and its picture is taken out of it later.
    noteDiskFault(run, error);
    return { output, isUnsaved: true };
  }
}
