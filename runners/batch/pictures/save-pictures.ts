import { concatMap, defer, EMPTY, mergeMap, type Observable, type OperatorFunction } from 'rxjs';
import pLimit from 'p-limit';
import { redact } from '../../../src/contract/redact.js';
import type { ArtifactError } from '../artifacts/artifact-error.js';
import type { ArtifactPlace } from '../artifacts/save-artifact.js';
import { DiskFault } from '../disk/disk-fault.js';
import type { OutcomeRecord, ReplyRecord } from '../journal/record.js';
import type { EndedRow } from '../sinks/line-text.js';
import { containFault, noteDiskFault } from '../stop/exit-of.js';
import { endRow } from '../end/end-row.js';
import { keepOutput, noteProblems, noteUnsure } from './note-picture.js';
import { saveOutputs, type SavingEnd } from './save-outputs.js';
import { wantedOutputs } from './wanted-outputs.js';
import { completedRecord, failedRecord, purchaseOfReply, rowError, savedOutputs } from '../row/records-of.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import type { PaidRow } from '../row/task.js';

/**
 * Saves the pictures and files of paid rows in its own pool, and ends the rows: as completed, or as `download`, which a later
 * start tries again without buying anything.
 */
export function savePictures(context: PurchaseContext): OperatorFunction<PaidRow, EndedRow> {
  const pool = new PicturePool(context.options.downloads);
  return mergeMap((row) => {
    const work = (): Promise<SavingEnd> =>
      context.stops.leaves('replied') ? Promise.resolve('left') : save(context, row);
    return pool.run(work, row.free).pipe(
      concatMap((saving) => end(context, row, saving)),
      containFault(context, row.row.id),
    );
  });
}

async function save(context: PurchaseContext, paid: PaidRow): Promise<SavingEnd> {
  const { row, reply, saved } = paid;
  try {
    const wanted = wantedOutputs(reply, { request: row.request, paths: context.pictures.paths, saved });
    return await saveOutputs(reply, wanted, {
      place: placeOf(context, row.id),
      settings: settingsOf(context),
      keep: (file, kept) => keepOutput(context, row, file, kept),
    });
  } catch (error) {
    if (!(error instanceof DiskFault)) throw error;
    noteDiskFault(context, error);
    return 'left';
  }
}

function end(context: PurchaseContext, paid: PaidRow, saving: SavingEnd): Observable<EndedRow> {
  if (saving === 'left') return EMPTY;
  noteProblems(context, paid.row, saving.files);
  // The message may contain text of another server, such as the target of a redirect.
  const textOf = ({ message }: ArtifactError): string => redact(message, context.options.secrets);
  if (saving.noPicture !== undefined) noteUnsure(context, paid.row, textOf(saving.noPicture));
  return defer(() => {
    const { intent, row, attempts, isBooked } = paid;
    const { reply } = saving;
    const facts = {
      at: context.options.scheduler.now(),
      ...savedOutputs(saving),
      ...purchaseOfReply(intent, paid.reply, { attempt: attempts, isBooked }),
    };
    // The reply is journalled again if the path of a file has replaced its text.
    const changed = reply === paid.reply ? [] : [reply];
    const outcome =
      saving.error === undefined
        ? completedRecord(reply, facts)
        : notSaved(reply, facts, { message: textOf(saving.error), httpStatus: saving.error.httpStatus });
    return endRow(context, { intent, reply, records: [...changed, outcome], row: row.row });
  });
}

function notSaved(
  reply: ReplyRecord,
  facts: Parameters<typeof completedRecord>[1],
  { message, httpStatus }: { readonly message: string; readonly httpStatus: number | undefined },
): OutcomeRecord {
  const { id, cost, source, jobId, submittedAt, statusCalls, imageUrl } = reply;
  const error = rowError({
    code: 'download',
    paid: 'yes',
    message,
    ...(httpStatus !== undefined && { httpStatus }),
  });
  return failedRecord(id, error, {
    cost,
    source,
    jobId,
    submittedAt,
    statusCalls,
    ...(imageUrl !== undefined && { imageUrl }),
    ...facts,
  });
}

function placeOf({ options: { disk, out }, pictures }: PurchaseContext, id: string): ArtifactPlace {
  return { disk, folder: out, id, collides: pictures.names.collides(id) };
}

function settingsOf({ options, stops }: PurchaseContext) {
  const { saveFrom, scheduler, random, retries } = options;
  return { download: saveFrom, scheduler, random, maxRetries: retries, left$: stops.left('replied') };
}

/** The pool in which pictures are saved, separate from the paid slots. */
export class PicturePool {
  private readonly limit;
  private readonly mostWaiting: number;
  private held: (() => void)[] = [];

  constructor(downloads: number) {
    this.limit = pLimit(downloads);
    this.mostWaiting = 4 * downloads;
  }

  /**
   * Runs `work` when its turn comes and emits the result; unsubscribing does not end the work.
   *
   * @param taken Called once few enough rows wait: until then the row keeps its slot, so that no further row starts.
   */
  run<T>(work: () => Promise<T>, taken: () => void): Observable<T> {
    return defer(() => {
      const done = this.limit(() => {
        this.release();
        return work();
      }).finally(() => this.release());
      this.held.push(taken);
      this.release();
      return done;
    });
  }

  private release(): void {
    // Rows that are held back also wait in the pool, but do not count here.
    while (this.held.length > 0 && this.limit.pendingCount - this.held.length < this.mostWaiting)
      this.held.shift()?.();
  }
}
