import { NEVER } from 'rxjs';
import { downloadPicture } from '../../batch/artifacts/download-picture.js';
import { completedRecord, purchaseOfReply } from '../../batch/row/records-of.js';
import { expiryOf } from '../../batch/sinks/result-line.js';
import type { Answer } from '../store/answer.js';
import type { DuePiece } from '../store/take-due.js';
import { factsOf, rowOf } from './row-of.js';
import type { RunDesk } from './run-desk.js';

/** Saves the picture of a row that is paid for into the shared folder. What it cannot get is left to the collector. */
export async function savePictureOf(desk: RunDesk, { piece, row }: DuePiece): Promise<Answer> {
  const { artifacts, disk, saveFrom, scheduler, random } = desk.parts;
  const reply = row?.state === 'saving' ? row.reply : null;
  if (row === undefined || reply === null) return { is: 'stale', kind: 'download', piece };
  const { attempt, brief } = row;
  const url = reply.imageUrl;
  if (artifacts === undefined || url === undefined) return { is: 'ended', piece, attempt, ending: { reply } };
  const place = { disk, folder: artifacts, id: brief.id, collides: brief.collides };
  const settings = { download: saveFrom, scheduler, random, maxRetries: desk.terms.retries, left$: NEVER };
  const file = await downloadPicture(url, place, settings).catch(() => undefined);
  if (file === undefined) return { is: 'ended', piece, attempt, ending: { reply } };
  const { path, bytes, sha256 } = file;
  const image = { path, bytes, sha256, url, expiresAt: expiryOf(reply) };
  const { intent } = rowOf(row, factsOf(brief), reply.statusCalls);
  const purchase = intent === undefined ? {} : purchaseOfReply(intent, reply, { attempt, told: false });
  const outcome = completedRecord(reply, { at: desk.now(), image, ...purchase });
  return { is: 'ended', piece, attempt, ending: { reply, outcome } };
}
