import { defer, ignoreElements, type Observable } from 'rxjs';
import { failureCodes, type FailureCode } from '../../../src/contract/failure-code.js';
import { describeInvalid } from '../manifest/problem-tally.js';
import type { InvalidRow } from '../manifest/manifest-row.js';
import { endRow } from '../end/end-row.js';
import { failedRecord, failedRow, pricedOf, purchaseFacts, rowError } from '../row/records-of.js';
import type { Run } from '../context/run.js';
import { isRead, type RowFacts } from '../row/task.js';

/** A row that is not sent, because it may have been bought before: it fails so, and a person decides. */
export function holdRow(run: Run, row: RowFacts, code: FailureCode, attempts: number): Observable<never> {
  return defer(() => {
    const at = run.options.scheduler.now();
    const { paid } = failureCodes[code];
    const lost =
      code === 'unknown' && run.journal.journal.recovered.mustHold(row.id, row.row) && !isRead(row);
    const price = lost ? run.prices.priceOf(pricedOf(row)) : null;
    if (lost && run.ledger.reserve(row.id, price)) run.ledger.keepUnknown(row.id);
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
    return endRow(run, { outcome, row: row.row }).pipe(ignoreElements());
  });
}

/** An invalid row becomes a failure. */
export function refuseRow(run: Run, invalid: InvalidRow): Observable<never> {
  return defer(() => {
    const { row, key, cells } = invalid;
    const message = describeInvalid(invalid).join('; ');
    const facts = { row, hash: '', kind: null, endpoint: '', cells };
    const outcome = failedRecord(key, rowError({ code: 'invalid-row', message, paid: 'no' }), {
      ...{ at: run.options.scheduler.now(), cost: null, source: 'none', statusCalls: 0, row: facts },
    });
    return endRow(run, { outcome, row }).pipe(ignoreElements());
  });
}
