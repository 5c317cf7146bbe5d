import { concatMap, defer, EMPTY, mergeMap, type Observable, type OperatorFunction } from 'rxjs';
import { redact } from '../../../src/contract/redact.js';
import { downloadPicture } from '../artifacts/download-picture.js';
import { findPicture, replaceAt } from '../artifacts/find-picture.js';
import { PictureError, savePicture, type PictureFile, type PicturePlace } from '../artifacts/save-picture.js';
import { writeThumbnail } from '../artifacts/write-thumbnail.js';
import { DiskFault } from '../disk/disk-fault.js';
import type { PurchaseFacts, ReplyRecord, SavedImage } from '../journal/record.js';
import type { EndedRow } from '../sinks/ended-row.js';
import { expiryOf } from '../sinks/result-line.js';
import { containFault, noteDiskFault } from '../stop/exit-of.js';
import { endRow } from '../end/end-row.js';
import { notePicture } from './note-picture.js';
import { PicturePool } from './picture-pool.js';
import { completedRecord, failedRecord, purchaseOfReply, rowError } from '../row/records-of.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import type { PaidRow } from '../row/task.js';

/**
 * Saves the pictures of rows that are paid for, in a pool of its own, and ends the rows: as completed, or as `download`,
 * which a later start takes up again and which buys nothing.
 */
export function savePictures(context: PurchaseContext): OperatorFunction<PaidRow, EndedRow> {
  const pool = new PicturePool(context.options.downloads);
  return mergeMap((row) => {
    const work = (): Promise<Saving> =>
      context.stops.leaves('replied') ? Promise.resolve('left') : save(context, row);
    return pool.run(work, row.free).pipe(
      concatMap((saving) => end(context, row, saving)),
      containFault(context, row.row.id),
    );
  });
}

/** `left`: the run stops, and a later start goes on. */
type Saving = 'left' | { readonly image?: SavedImage; readonly reply?: ReplyRecord } | PictureError;

async function save(context: PurchaseContext, paid: PaidRow): Promise<Saving> {
  const { row, reply } = paid;
  // It came in the reply and was saved before that was journalled: the start died between the reply and the outcome.
  if (reply.image !== undefined) return { image: reply.image };
  try {
    const found =
      reply.imageUrl === undefined
        ? findPicture(reply.output, row.kind)
        : { url: reply.imageUrl, sure: true };
    if (found === undefined) return {};
    if ('bytes' in found) {
      const file = await savePicture((write) => write(found.bytes), placeOf(context, row.id));
      const image = await imageOf(context, paid, file);
      return { image, reply: { ...reply, output: replaceAt(reply.output, found.at, file.path), image } };
    }
    const file = await downloadPicture(found.url, placeOf(context, row.id), settingsOf(context));
    return file === undefined ? 'left' : { image: await imageOf(context, paid, file, found.url) };
  } catch (error) {
    if (error instanceof PictureError) return error;
    if (!(error instanceof DiskFault)) throw error;
    noteDiskFault(context, error);
    return 'left';
  }
}

function end(context: PurchaseContext, paid: PaidRow, saving: Saving): Observable<EndedRow> {
  if (saving === 'left') return EMPTY;
  if (!(saving instanceof PictureError)) return complete(context, paid, saving);
  // It may name where a redirect leads to, by the words of another server.
  const message = redact(saving.message, context.options.secrets);
  if (isNoLoss(paid, saving)) return withoutPicture(context, paid, message);
  return fail(context, paid, { message, httpStatus: saving.httpStatus });
}

function complete(
  context: PurchaseContext,
  paid: PaidRow,
  { image, reply = paid.reply }: { image?: SavedImage; reply?: ReplyRecord },
): Observable<EndedRow> {
  return defer(() => {
    const outcome = completedRecord(reply, {
      at: context.options.scheduler.now(),
      image,
      ...purchaseIn(paid),
    });
    const records = reply === paid.reply ? [outcome] : [reply, outcome];
    return endRow(context, { intent: paid.intent, reply, records, row: paid.row.row });
  });
}

function fail(
  context: PurchaseContext,
  paid: PaidRow,
  { message, httpStatus }: Pick<PictureError, 'message' | 'httpStatus'>,
): Observable<EndedRow> {
  return defer(() => {
    const { reply, intent, row } = paid;
    const { cost, source, jobId, submittedAt, statusCalls, imageUrl } = reply;
    const error = rowError({
      code: 'download',
      paid: 'yes',
      message,
      ...(httpStatus !== undefined && { httpStatus }),
    });
    const outcome = failedRecord(row.id, error, {
      ...{ at: context.options.scheduler.now(), cost, source, jobId, submittedAt, statusCalls },
      ...(imageUrl !== undefined && { imageUrl }),
      ...purchaseIn(paid),
    });
    return endRow(context, { intent, reply, records: [outcome], row: row.row });
  });
}

/** A URL under `result` need not be a picture's: what lies there is the function's own affair. */
function isNoLoss({ row, reply }: PaidRow, error: PictureError): boolean {
  const found = findPicture(reply.output, row.kind);
  return error.isNoPicture && found !== undefined && 'url' in found && !found.sure;
}

function withoutPicture(context: PurchaseContext, paid: PaidRow, message: string): Observable<EndedRow> {
  const text = `Row "${paid.row.id}" has a URL under "result" that leads to no picture (${message}): it is left there.`;
  context.events.next({ type: 'warning', code: 'picture', message: text });
  return complete(context, paid, {});
}

function purchaseIn({ intent, reply, attempts, isBooked }: PaidRow): { purchase?: PurchaseFacts } {
  return purchaseOfReply(intent, reply, { attempt: attempts, isBooked });
}

async function imageOf(
  context: PurchaseContext,
  { row, reply }: PaidRow,
  file: PictureFile,
  url?: string,
): Promise<SavedImage> {
  const { path, bytes, sha256 } = file;
  const image = { path, bytes, sha256, ...(url !== undefined && { url, expiresAt: expiryOf(reply) }) };
  const { disk, out, makeThumbnail } = context.options;
  await writeThumbnail(disk, out, file, makeThumbnail);
  notePicture(context, row, file, image);
  return image;
}

function placeOf({ options: { disk, out }, pictures }: PurchaseContext, id: string): PicturePlace {
  return { disk, folder: out, id, collides: pictures.names.collides(id) };
}

function settingsOf({ options, stops }: PurchaseContext) {
  const { saveFrom, scheduler, random, retries } = options;
  return { download: saveFrom, scheduler, random, maxRetries: retries, left$: stops.left('replied') };
}
