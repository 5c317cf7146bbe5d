import { catchError, firstValueFrom, map, of, timeout } from 'rxjs';
import type { QueueEndpoint } from '../../../src/endpoints/queue-endpoint.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { describeHealth } from '../words/describe-health.js';

const patienceMs = 30_000;

/** `refused`: the key. `gone`: there is no such endpoint. `unreached`: nobody answered as the service does. */
export interface CheckedEndpoint {
  readonly state: 'up' | 'refused' | 'gone' | 'unreached';
  readonly words: string;
}

/** Asks an endpoint how it is, which costs nothing and needs the key. */
export function checkEndpoint(
  endpoint: Pick<QueueEndpoint<unknown, unknown>, 'health'>,
): Promise<CheckedEndpoint> {
  return firstValueFrom(
    endpoint.health().pipe(
      timeout(patienceMs),
      map((health) => ({ state: 'up' as const, words: describeHealth(health) ?? 'it answers' })),
      catchError((error: unknown) => of({ state: stateOf(error), words: wordsOf(error) })),
    ),
  );
}

function stateOf(error: unknown): CheckedEndpoint['state'] {
  const code = isMillraceError(error) ? error.code : '';
  return code === 'unauthorized' ? 'refused' : code === 'not-found' ? 'gone' : 'unreached';
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
