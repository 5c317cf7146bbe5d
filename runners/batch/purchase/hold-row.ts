import { failureCodes } from '../../../src/contract/failure-code.js';
import type { Steps } from '../../../src/operators/flow.js';
import { describeInvalid } from '../manifest/problem-tally.js';
import type { InvalidRow } from '../manifest/manifest-row.js';
import { leave } from '../end/end-row.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { pricedOf } from '../row/costs.js';
import { failedRecord, failedRow, purchaseFacts, rowError } from '../row/records-of.js';
import { isRead, type TaskOf } from '../row/task.js';

/** A row that is not sent, because it may have been bought before: it fails so, and a person decides. */
export function* holdRow(context: PurchaseContext, { row, code, attempts }: TaskOf<'hold'>): Steps<never> {
  const { options, money } = context;
  const at = options.scheduler.now();
  const { paid } = failureCodes[code];
  const lost = code === 'unknown' && context.mustHold(row.id, row.row) && !isRead(row);
  const price = lost ? money.prices.priceOf(pricedOf(row)) : null;
  if (lost) money.ledger.hold(row.id, price, row);
  const message = lost
    ? 'its purchase may stand in the part of the journal that was lost: it is not sent again'
    : `it failed before as ${code}: ${failureCodes[code].meaning}`;
  // The purchases that are known have their lines in costs.csv: a lost one is another.
  const attempt = attempts === 0 ? 0 : attempts + 1;
  const purchase = purchaseFacts(row, { attempt, settledAt: at });
  const outcome = failedRecord(row.id, rowError({ code, message, paid }), {
    ...{ at, cost: price, source: lost ? 'unknown' : 'none', statusCalls: 0, row: failedRow(row) },
    ...(lost && { purchase }),
  });
  yield* leave(context, { records: [outcome], row: row.row });
}

/** An invalid row becomes a failure. */
export function* refuseRow(context: PurchaseContext, invalid: InvalidRow): Steps<never> {
  const { row, key, cells } = invalid;
  const message = describeInvalid(invalid).join('; ');
  const facts = { row, hash: '', kind: null, endpoint: '', cells };
  const outcome = failedRecord(key, rowError({ code: 'invalid-row', message, paid: 'no' }), {
    ...{ at: context.options.scheduler.now(), cost: null, source: 'none', statusCalls: 0, row: facts },
  });
  yield* leave(context, { records: [outcome], row });
}
