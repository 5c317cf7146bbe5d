import { NEVER } from 'rxjs';
import type { Completed, Failed } from '../../../src/contract/outcome.js';
import { downloadPicture } from '../../batch/artifacts/download-picture.js';
import { findPicture, replaceAt, type FoundPicture } from '../../batch/artifacts/find-picture.js';
import { savePicture } from '../../batch/artifacts/save-picture.js';
import type { ReplyRecord } from '../../batch/journal/record.js';
import {
  completedRecord,
  costOfCompleted,
  costOfFailed,
  failedRecord,
  failedRow,
  pricedOf,
  purchaseOf,
  replyRecord,
  rowError,
  purchaseOfReply,
  intentRecord,
} from '../../batch/row/records-of.js';
import { RowRun } from '../../batch/row/row-run.js';
import { isRead, type RowFacts } from '../../batch/row/task.js';
import { expiryOf } from '../../batch/sinks/result-line.js';
import type { Ending, RowBrief, RowRecord } from '../records/row-record.js';
import type { Answer } from '../store/answer.js';
import type { DuePiece } from '../store/take-due.js';
import type { RunDesk } from './served-run.js';

type EndAnswer = Pick<Extract<Answer, { is: 'ended' }>, 'is' | 'ending' | 'price'>;
type PaidAnswer = Pick<Extract<Answer, { is: 'paid' }>, 'is' | 'reply' | 'price'>;

/** What is kept of a completed job: its picture is saved here, by a later piece, or by the collector. */
export async function keepCompleted(
  desk: RunDesk,
  row: RowRun,
  completed: Completed<unknown>,
  collides: boolean,
): Promise<EndAnswer | PaidAnswer> {
  const at = desk.now();
  const { artifacts } = desk.parts;
  const found = findPicture(completed.output, row.row.kind);
  const cost = costOfCompleted(row, completed, desk.book);
  const price =
    cost.source === 'reported' && cost.cost !== null
      ? { price: { ...pricedOf(row.row), cost: cost.cost } }
      : {};
  const reply = (more: Partial<Pick<ReplyRecord, 'output' | 'imageUrl' | 'image'>> = {}): ReplyRecord =>
    replyRecord(row, completed, { at, output: completed.output, ...cost, ...more });
  const ended = (told: ReplyRecord): Ending => ({
    reply: told,
    outcome: completedRecord(told, { at, image: told.image, ...purchaseOf(row, at) }),
  });
  if (found === undefined) return { is: 'ended', ending: ended(reply()), ...price };
  if ('url' in found) {
    const told = reply({ imageUrl: found.url });
    if (!desk.terms.download) return { is: 'ended', ending: ended(told), ...price };
    return artifacts === undefined
      ? { is: 'ended', ending: { reply: told }, ...price }
      : { is: 'paid', reply: told, ...price };
  }
  if (artifacts === undefined) return { is: 'ended', ending: { reply: reply() }, ...price };
  const saved = await saveEncoded(desk, row.id, found, { artifacts, collides });
  if (saved === undefined) return { is: 'ended', ending: { reply: reply() }, ...price };
  const output = replaceAt(completed.output, found.at, saved.path);
  return { is: 'ended', ending: ended(reply({ output, image: saved })), ...price };
}

/** `undefined`: it could not be saved here; the collector tries. */
async function saveEncoded(
  desk: RunDesk,
  id: string,
  { bytes }: Extract<FoundPicture, { bytes: Buffer }>,
  { artifacts, collides }: { artifacts: string; collides: boolean },
) {
  const place = { disk: desk.parts.disk, folder: artifacts, id, collides };
  try {
    const { path, bytes: length, sha256 } = await savePicture((write) => write(bytes), place);
    return { path, bytes: length, sha256 };
  } catch {
    return undefined;
  }
}

/** The failure of a row, as it is kept. */
export function keepFailed(desk: RunDesk, row: RowRun, failed: Failed): EndAnswer {
  const at = desk.now();
  const cost = costOfFailed(row, failed);
  const jobId = failed.jobId ?? row.jobId;
  if (jobId !== undefined) row.jobId = jobId;
  const outcome = failedRecord(row.id, rowError(failed), {
    ...{ at, ...cost, jobId, submittedAt: row.submittedAt, statusCalls: row.statusCalls() },
    ...purchaseOf(row, at),
    ...(isRead(row.row) && { row: failedRow(row.row) }),
  });
  const reported = cost.source === 'reported' ? cost.cost : null;
  return {
    is: 'ended',
    ending: { outcome },
    ...(reported !== null && { price: { ...pricedOf(row.row), cost: reported } }),
  };
}

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

/** The row of a piece as a local run knows it, so that its records are made the same way. */
export function rowOf(record: RowRecord, facts: RowFacts, statusCalls: number): RowRun {
  const { attempt, jobId, price, takes, submittedAt } = record;
  const row = new RowRun({ what: 'send', row: facts, attempts: attempt });
  row.jobId = jobId ?? undefined;
  row.price = price;
  row.submittedAt = submittedAt ?? undefined;
  row.statusCalls = () => statusCalls;
  const intended = { at: submittedAt ?? 0, attempt, price, ...(takes && { takes: 'job' as const }) };
  row.intent = intentRecord(facts, intended);
  return row;
}

/** All of the facts that the records of an ended row go by: what it sent is not asked for again. */
export function factsOf({ id, row, hash, kind, endpoint, mode, resolution }: RowBrief): RowFacts {
  const request = { kind: 'job', input: {} } as const;
  return { ...{ id, row, hash, kind, endpoint, mode, resolution }, request, cells: {}, columns: {} };
}
