import { NEVER } from 'rxjs';
import type { Completed, Failed } from '../../../src/contract/outcome.js';
import { downloadPicture } from '../../batch/artifacts/download-picture.js';
import { findPicture, replaceAt, type FoundPicture } from '../../batch/artifacts/find-picture.js';
import { savePicture } from '../../batch/artifacts/save-picture.js';
import type { ReplyRecord } from '../../batch/journal/record.js';
import { costOfCompleted, costOfFailed, pricedOf } from '../../batch/row/costs.js';
import {
  completedRecord,
  intentRecord,
  outcomeOfFailed,
  purchaseOf,
  purchaseOfReply,
  replyRecord,
} from '../../batch/row/records-of.js';
import type { RowPurchase } from '../../batch/row/row-in-flight.js';
import type { RowFacts } from '../../batch/row/task.js';
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
  row: RowPurchase,
  completed: Completed<unknown>,
  collides: boolean,
): Promise<EndAnswer | PaidAnswer> {
  const at = served.now();
  const { artifacts } = served.settings;
  const found = findPicture(completed.output, row.facts.kind);
  const cost = costOfCompleted(row, completed, served.book);
  const price =
    cost.source === 'reported' && cost.cost !== null
      ? { price: { ...pricedOf(row.facts), cost: cost.cost } }
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
  const saved = await saveEncoded(served, row.facts.id, found, { artifacts, collides });
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
export function keepFailed(served: ServedRun, row: RowPurchase, failed: Failed): EndAnswer {
  const at = served.now();
  const cost = costOfFailed(row, failed);
  const outcome = outcomeOfFailed(row, failed, { at, ...cost });
  const reported = cost.source === 'reported' ? cost.cost : null;
  return {
    is: 'ended',
    ending: { outcome },
    ...(reported !== null && { price: { ...pricedOf(row.facts), cost: reported } }),
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
  const { intent } = purchaseOfRow(row, factsOfBrief(brief), reply.statusCalls);
  const purchase = intent === undefined ? {} : purchaseOfReply(intent, reply, { attempt, isBooked: false });
  const outcome = completedRecord(reply, { at: served.now(), image, ...purchase });
  return { is: 'ended', item, attempt, ending: { reply, outcome } };
}

/** The row of a work item as a local run has it, so that the same functions make its records. */
export function purchaseOfRow(record: RowRecord, facts: RowFacts, statusCalls: number): RowPurchase {
  const { attempt, jobId, price, takes, submittedAt } = record;
  const intended = { at: submittedAt ?? 0, attempt, price, ...(takes && { takes: 'job' as const }) };
  return {
    ...{ facts, attempts: attempt, statusCalls, intent: intentRecord(facts, intended) },
    ...{ jobId: jobId ?? undefined, submittedAt: submittedAt ?? undefined },
  };
}

/** The facts that the records of an ended row need. What the row sent is not among them, so it is not read again. */
export function factsOfBrief({ id, row, hash, kind, endpoint, mode, resolution }: RowBrief): RowFacts {
  const request = { kind: 'job', input: {} } as const;
  return { ...{ id, row, hash, kind, endpoint, mode, resolution }, request, cells: {}, columns: {} };
}
