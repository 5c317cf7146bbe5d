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
import { isRead } from '../row/task.js';
import { unwritable } from '../sinks/line-json.js';
import { takeOutputs, type TakenOutputs } from './take-outputs.js';

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
  const taken = yield* takeOutputs(context, row.progress.facts, outcome.output);
  try {
    yield* endAs(context, row, completedEnding(context, row, outcome, taken));
  } catch (error) {
    if (!(error instanceof UnfitRecord)) throw error;
    const unfit = { ...taken, output: unwritable(error.cause) };
    yield* endAs(context, row, completedEnding(context, row, outcome, unfit));
  }
  // Made only after the reply is durable: a process that dies before that would leave a paid row without a known end.
  for (const file of taken.made)
    yield* lastOf(writeThumbnail(options.disk, options.out, file, options.makeThumbnail));
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
  { output, imageUrl, saved, files, isUnsaved }: TakenOutputs,
): Ending {
  const at = options.scheduler.now();
  const cost = costOfCompleted(progress, completed, money.prices);
  const reply = replyRecord(progress, completed, { at, output, imageUrl, ...saved, ...cost });
  const { facts, intent } = progress;
  // A reply of /runsync is the first that has the id.
  const jobId = progress.jobId ?? (completed.jobId === '' ? undefined : completed.jobId);
  const records: RowRecord[] = isRead(facts) && intent ? [intent, reply] : [reply];
  const ending = { row: facts.row, intent, reply, bought: { facts, cost } };
  const isElsewhere =
    imageUrl !== undefined || files.some(({ path, url }) => path === undefined && url !== undefined);
  if ((isElsewhere && options.download) || isUnsaved === true) return { ...ending, records };
  const outcome = completedRecord(reply, { at, ...saved, files, ...purchaseOf({ ...progress, jobId }, at) });
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
