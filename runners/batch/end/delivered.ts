import { defaultIfEmpty, defer, from, ignoreElements, of, takeUntil, type Observable } from 'rxjs';
import type { EndedRow } from '../sinks/ended-row.js';
import { failureLine, type FailureLine } from '../sinks/failure-line.js';
import { resultLine, type ResultLine } from '../sinks/result-line.js';
import type { PurchaseContext } from '../context/purchase-context.js';

/** Passes the line of an ended row to `deliver` and waits for its promise, at most until the run stops. Emits once. */
export function delivered(
  { options, stops }: Pick<PurchaseContext, 'options' | 'stops'>,
  row: EndedRow,
): Observable<true> {
  return defer(() => {
    const line = options.deliver === undefined ? undefined : lineOf(row);
    if (line === undefined) return of(true as const);
    const taken = from(Promise.resolve(options.deliver?.(line)));
    return taken.pipe(takeUntil(stops.left('open')), ignoreElements(), defaultIfEmpty(true as const));
  });
}

/**
 * In the files an invalid row has a made-up id, which leaves its own id free for the corrected row. `deliver` gets the row
 * under its own id, the one that the caller knows.
 */
function lineOf(row: EndedRow): ResultLine | FailureLine | undefined {
  const line = resultLine(row) ?? failureLine(row);
  const { outcome } = row;
  if (outcome.status === 'completed' || outcome.error.code !== 'invalid-row') return line;
  const given = outcome.row?.cells['id'];
  const isName = (typeof given === 'string' && given !== '') || typeof given === 'number';
  return line !== undefined && isName ? { ...line, id: String(given) } : line;
}
