import { forkJoin, map, of, type Observable, timeout } from 'rxjs';
import { createClient } from '../../../src/endpoints/create-client.js';
import type { Gate } from '../../../src/policy/gate.js';
import { describeHealth } from '../words/describe-health.js';
import type { Target } from './target.js';

/** More endpoints than this would fill the display. */
const asked = 3;
const patienceMs = 10_000;

/** What the service says of the endpoints that rows are sent to. */
export function askHealth(target: Target, endpoints: readonly string[], gate: Gate): Observable<string> {
  const { apiKey, baseUrl } = target;
  if (baseUrl === undefined || endpoints.length === 0) return of();
  const client = createClient({ apiKey, baseUrl, gate });
  const answers = endpoints.slice(0, asked).map((endpoint) =>
    client
      .queue(endpoint)
      .health()
      .pipe(
        timeout(patienceMs),
        map((health) => `${endpoint}: ${describeHealth(health) ?? 'no word of its workers'}`),
      ),
  );
  return forkJoin(answers).pipe(map((words) => `the service says ${words.join('; ')}`));
}
