import { defaultIfEmpty, defer, from, ignoreElements, of, takeUntil, type Observable } from 'rxjs';
import type { EndedRow } from '../sinks/ended-row.js';
import { failureLine } from '../sinks/failure-line.js';
import { resultLine } from '../sinks/result-line.js';
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
    const line = options.deliver === undefined ? undefined : (resultLine(row) ?? failureLine(row));
    if (line === undefined) return of(true as const);
    const taken = from(Promise.resolve(options.deliver?.(line)));
    return taken.pipe(takeUntil(stops.left('submits')), ignoreElements(), defaultIfEmpty(true as const));
  });
}
