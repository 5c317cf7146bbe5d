import { concatMap, defer, EMPTY, mergeMap, type Observable, type OperatorFunction } from 'rxjs';
import { redact } from '../../../src/contract/redact.js';
import { downloadPicture } from '../artifacts/download-picture.js';
import { findPicture, replaceAt } from '../artifacts/find-picture.js';
import { PictureError } from '../artifacts/picture-error.js';
import { savePicture, type PictureFile, type PicturePlace } from '../artifacts/save-picture.js';
import { writeThumbnail } from '../artifacts/write-thumbnail.js';
import { DiskFault } from '../disk/disk-fault.js';
import type { PurchaseFacts, ReplyRecord, SavedImage } from '../journal/record.js';
import type { EndedRow } from '../sinks/ended-row.js';
import { expiryOf } from '../sinks/result-line.js';
import { containFault } from '../stop/contain-fault.js';
import { endRow, noteDiskFault } from '../end/end-row.js';
import { notePicture } from './note-picture.js';
import { PicturePool } from './picture-pool.js';
import { completedRecord, failedRecord, purchaseOfReply, rowError } from '../row/records-of.js';
import type { Run } from '../context/run.js';
import type { SettledRow } from '../row/settled-row.js';

/**
 * Saves the pictures of rows that are paid for, in a pool of its own, and ends the rows: as completed, or as `download`,
 * which a later start takes up again and which buys nothing.
 */
export function savePictures(run: Run): OperatorFunction<SettledRow, EndedRow> {
  const pool = new PicturePool(run.options.downloads);
  return mergeMap((row) => {
    const work = (): Promise<Saving> =>
      run.stops.leaves('saves') ? Promise.resolve('left') : save(run, row);
    return pool.run(work, row.free).pipe(
      concatMap((saving) => end(run, row, saving)),
      containFault(run, row.row.id),
    );
  });
}

/** `left`: the run stops, and a later start goes on. */
type Saving = 'left' | { readonly image?: SavedImage; readonly reply?: ReplyRecord } | PictureError;

async function save(run: Run, settled: SettledRow): Promise<Saving> {
  const { row, reply } = settled;
  // It came in the reply and was saved before that was journalled: the start died between the reply and the outcome.
  if (reply.image !== undefined) return { image: reply.image };
  try {
    const found =
      reply.imageUrl === undefined
        ? findPicture(reply.output, row.kind)
        : { url: reply.imageUrl, sure: true };
    if (found === undefined) return {};
    if ('bytes' in found) {
      const file = await savePicture((write) => write(found.bytes), placeOf(run, row.id));
      const image = await imageOf(run, settled, file);
      return { image, reply: { ...reply, output: replaceAt(reply.output, found.at, file.path), image } };
    }
    const file = await downloadPicture(found.url, placeOf(run, row.id), settingsOf(run));
    return file === undefined ? 'left' : { image: await imageOf(run, settled, file, found.url) };
  } catch (error) {
    if (error instanceof PictureError) return error;
    if (!(error instanceof DiskFault)) throw error;
    noteDiskFault(run, error);
    return 'left';
  }
}

function end(run: Run, settled: SettledRow, saving: Saving): Observable<EndedRow> {
  if (saving === 'left') return EMPTY;
  if (!(saving instanceof PictureError)) return complete(run, settled, saving);
  // It may name where a redirect leads to, by the word of whoever sent it.
  const message = redact(saving.message, run.options.secrets);
  if (isNoLoss(settled, saving)) return withoutPicture(run, settled, message);
  return fail(run, settled, { message, httpStatus: saving.httpStatus });
}

function complete(
  run: Run,
  settled: SettledRow,
  { image, reply = settled.reply }: { image?: SavedImage; reply?: ReplyRecord },
): Observable<EndedRow> {
  return defer(() => {
    const outcome = completedRecord(reply, {
      at: run.options.scheduler.now(),
      image,
      ...purchaseIn(settled),
    });
    const before = reply === settled.reply ? [] : [reply];
    return endRow(run, { intent: settled.intent, reply, outcome, before, row: settled.row.row });
  });
}

function fail(
  run: Run,
  settled: SettledRow,
  { message, httpStatus }: Pick<PictureError, 'message' | 'httpStatus'>,
): Observable<EndedRow> {
  return defer(() => {
    const { reply, intent, row } = settled;
    const { cost, source, jobId, submittedAt, statusCalls, imageUrl } = reply;
    const told = {
      code: 'download' as const,
      paid: 'yes' as const,
      message,
      ...(httpStatus !== undefined && { httpStatus }),
    };
    const outcome = failedRecord(row.id, rowError(told), {
      ...{ at: run.options.scheduler.now(), cost, source, jobId, submittedAt, statusCalls },
      ...(imageUrl !== undefined && { imageUrl }),
      ...purchaseIn(settled),
    });
    return endRow(run, { intent, reply, outcome, row: row.row });
  });
}

/** A URL under `result` need not be a picture's: what lies there is the function's own affair. */
function isNoLoss({ row, reply }: SettledRow, error: PictureError): boolean {
  const found = findPicture(reply.output, row.kind);
  return error.isNoPicture && found !== undefined && 'url' in found && !found.sure;
}

function withoutPicture(run: Run, settled: SettledRow, message: string): Observable<EndedRow> {
  const text = `Row "${settled.row.id}" has a URL under "result" that leads to no picture (${message}): it is left there.`;
  run.events.next({ type: 'warning', code: 'picture', message: text });
  return complete(run, settled, {});
}

function purchaseIn({ intent, reply, attempts, told }: SettledRow): { purchase?: PurchaseFacts } {
  return purchaseOfReply(intent, reply, { attempt: attempts, told });
}

async function imageOf(
  run: Run,
  { row, reply }: SettledRow,
  file: PictureFile,
  url?: string,
): Promise<SavedImage> {
  const { path, bytes, sha256 } = file;
  const image = { path, bytes, sha256, ...(url !== undefined && { url, expiresAt: expiryOf(reply) }) };
  const { disk, out, makeThumbnail } = run.options;
  await writeThumbnail(disk, out, file, makeThumbnail);
  notePicture(run, row, file, image);
  return image;
}

function placeOf({ options: { disk, out }, names }: Run, id: string): PicturePlace {
  return { disk, folder: out, id, collides: names.collides(id) };
}

function settingsOf({ options, stops }: Run) {
  const { saveFrom, scheduler, random, retries } = options;
  return { download: saveFrom, scheduler, random, maxRetries: retries, left$: stops.left('saves') };
}
