import { defaultIfEmpty, defer, from, ignoreElements, of, takeUntil, type Observable } from 'rxjs';
import type { EndedRow } from '../sinks/ended-row.js';
import { failureLine, type FailureLine } from '../sinks/failure-line.js';
import { resultLine, type ResultLine } from '../sinks/result-line.js';
import type { Run } from './run.js';

/**
 * Hands a row's line to whoever wants to be told, and waits for him; one who takes his time does not keep a run from
 * stopping. Emits once.
 */
export function delivered(
  { options, stops }: Pick<Run, 'options' | 'stops'>,
  row: EndedRow,
): Observable<true> {
  return defer(() => {
    const line = options.deliver === undefined ? undefined : lineOf(row);
    if (line === undefined) return of(true as const);
    const taken = from(Promise.resolve(options.deliver?.(line)));
    return taken.pipe(takeUntil(stops.left('submits')), ignoreElements(), defaultIfEmpty(true as const));
  });
}

/**
 * A wrong row has an id of its own in the files, so that the corrected row may come under the one that it named; whoever
 * handed it over knows it by that one.
 */
function lineOf(row: EndedRow): ResultLine | FailureLine | undefined {
  const line = resultLine(row) ?? failureLine(row);
  const { outcome } = row;
  if (outcome.status === 'completed' || outcome.error.code !== 'invalid-row') return line;
  const given = outcome.row?.cells['id'];
  const isName = (typeof given === 'string' && given !== '') || typeof given === 'number';
  return line !== undefined && isName ? { ...line, id: String(given) } : line;
}
