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
import type { DueItem } from '../store/take-due.js';
import type { ServedRun } from './served-run.js';

type EndAnswer = Pick<Extract<Answer, { is: 'ended' }>, 'is' | 'ending' | 'price'>;
type PaidAnswer = Pick<Extract<Answer, { is: 'paid' }>, 'is' | 'reply' | 'price'>;

/** The records of a completed job. Its picture is saved here, by a later work item, or by the collector. */
export async function keepCompleted(
  served: ServedRun,
  row: RowRun,
  completed: Completed<unknown>,
  collides: boolean,
): Promise<EndAnswer | PaidAnswer> {
  const at = served.now();
  const { artifacts } = served.settings;
  const found = findPicture(completed.output, row.row.kind);
  const cost = costOfCompleted(row, completed, served.book);
  const price =
    cost.source === 'reported' && cost.cost !== null
      ? { price: { ...pricedOf(row.row), cost: cost.cost } }
      : {};
  const reply = (more: Partial<Pick<ReplyRecord, 'output' | 'imageUrl' | 'image'>> = {}): ReplyRecord =>
    replyRecord(row, completed, { at, output: completed.output, ...cost, ...more });
  const ended = (paid: ReplyRecord): Ending => ({
    reply: paid,
    outcome: completedRecord(paid, { at, image: paid.image, ...purchaseOf(row, at) }),
  });
  if (found === undefined) return { is: 'ended', ending: ended(reply()), ...price };
  if ('url' in found) {
    const paid = reply({ imageUrl: found.url });
    if (!served.terms.download) return { is: 'ended', ending: ended(paid), ...price };
    return artifacts === undefined
      ? { is: 'ended', ending: { reply: paid }, ...price }
      : { is: 'paid', reply: paid, ...price };
  }
  if (artifacts === undefined) return { is: 'ended', ending: { reply: reply() }, ...price };
  const saved = await saveEncoded(served, row.id, found, { artifacts, collides });
  if (saved === undefined) return { is: 'ended', ending: { reply: reply() }, ...price };
  const output = replaceAt(completed.output, found.at, saved.path);
  return { is: 'ended', ending: ended(reply({ output, image: saved })), ...price };
}

/** `undefined`: the picture could not be saved here, and the collector tries. */
async function saveEncoded(
  served: ServedRun,
  id: string,
  { bytes }: Extract<FoundPicture, { bytes: Buffer }>,
  { artifacts, collides }: { artifacts: string; collides: boolean },
) {
  const place = { disk: served.settings.disk, folder: artifacts, id, collides };
  try {
    const { path, bytes: length, sha256 } = await savePicture((write) => write(bytes), place);
    return { path, bytes: length, sha256 };
  } catch {
    return undefined;
  }
}

/** The records of a failed row. */
export function keepFailed(served: ServedRun, row: RowRun, failed: Failed): EndAnswer {
  const at = served.now();
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

/** Saves the picture of a paid row into the shared folder. A picture that it cannot download is left to the collector. */
export async function savePictureOf(served: ServedRun, { item, row }: DueItem): Promise<Answer> {
  const { artifacts, disk, saveFrom, scheduler, random } = served.settings;
  const reply = row?.state === 'saving' ? row.reply : null;
  if (row === undefined || reply === null) return { is: 'stale', kind: 'download', item };
  const { attempt, brief } = row;
  const url = reply.imageUrl;
  if (artifacts === undefined || url === undefined) return { is: 'ended', item, attempt, ending: { reply } };
  const place = { disk, folder: artifacts, id: brief.id, collides: brief.collides };
  const options = { download: saveFrom, scheduler, random, maxRetries: served.terms.retries, left$: NEVER };
  const file = await downloadPicture(url, place, options).catch(() => undefined);
  if (file === undefined) return { is: 'ended', item, attempt, ending: { reply } };
  const { path, bytes, sha256 } = file;
  const image = { path, bytes, sha256, url, expiresAt: expiryOf(reply) };
  const { intent } = rowOf(row, factsOf(brief), reply.statusCalls);
  const purchase = intent === undefined ? {} : purchaseOfReply(intent, reply, { attempt, told: false });
  const outcome = completedRecord(reply, { at: served.now(), image, ...purchase });
  return { is: 'ended', item, attempt, ending: { reply, outcome } };
}

/** The row of a work item in the form of a local run, so that the same functions make its records. */
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

/** The facts that the records of an ended row need. What the row sent is not among them, so it is not read again. */
export function factsOf({ id, row, hash, kind, endpoint, mode, resolution }: RowBrief): RowFacts {
  const request = { kind: 'job', input: {} } as const;
  return { ...{ id, row, hash, kind, endpoint, mode, resolution }, request, cells: {}, columns: {} };
}
