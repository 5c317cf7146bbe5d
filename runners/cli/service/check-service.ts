import { listed } from '../messages/plain-text.js';
import { catchError, firstValueFrom, map, of, timeout, retry, forkJoin, type Observable } from 'rxjs';
import type { QueueEndpoint } from '../../../src/endpoints/queue-endpoint.js';
import { errorText, isMillraceError } from '../../../src/contract/millrace-error.js';
import type { Probe, Probed } from '../../../src/transport/got/got-probe.js';
import type { PhaseTimeouts } from '../../../src/transport/transport.js';
import { createLateClient } from '../../../src/endpoints/late-client.js';
import type { Gate } from '../../../src/policy/gates/gate.js';
import type { Target } from './service-settings.js';
import type { Health } from '../../../src/contract/service-replies.js';

const patienceMs = 30_000;

/** `refused`: the service refuses the key. `gone`: the endpoint does not exist. `unreached`: the service does not answer. */
export interface CheckedEndpoint {
  readonly state: 'up' | 'refused' | 'gone' | 'unreached';
  readonly words: string;
}

/** Asks an endpoint for its health, which costs nothing and needs the key. */
export function checkEndpoint(
  endpoint: Pick<QueueEndpoint<unknown, unknown>, 'health'>,
): Promise<CheckedEndpoint> {
  return firstValueFrom(
    endpoint.health().pipe(
      timeout(patienceMs),
      map((health) => ({ state: 'up' as const, words: describeHealth(health) ?? 'it answers' })),
      catchError((error: unknown) => of({ state: endpointStateOf(error), words: errorText(error) })),
    ),
  );
}

function endpointStateOf(error: unknown): CheckedEndpoint['state'] {
  const code = isMillraceError(error) ? error.code : '';
  return code === 'unauthorized' ? 'refused' : code === 'not-found' ? 'gone' : 'unreached';
}

const referenceTimeouts: PhaseTimeouts = {
  requestMs: 20_000,
  lookupMs: 5_000,
  connectMs: 5_000,
  secureConnectMs: 5_000,
  sendMs: 5_000,
  responseMs: 15_000,
  readMs: 5_000,
  idleMs: 5_000,
};

/** The problem with the address of a reference picture; `undefined` if there is none. An address without an answer is tried twice. */
export function checkReference(url: string, probe: Probe): Promise<string | undefined> {
  return firstValueFrom(
    probe({ url, timeouts: referenceTimeouts }).pipe(
      retry({ count: 1, delay: 1000 }),
      map(pictureProblem),
      catchError((error: unknown) => of(`could not be reached: ${errorText(error)}`)),
    ),
  );
}

/** Many servers send no type, or a general one, so only a type that is certainly no picture is a problem. */
function pictureProblem({ status, contentType }: Probed): string | undefined {
  if (status < 200 || status >= 300) return `answers HTTP ${status}`;
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  return type !== undefined && /^(text|audio|video)\/|^application\/(json|xml|pdf)$/.test(type)
    ? `is not a picture, but ${type}`
    : undefined;
}

/** At most this many endpoints are asked, because more would fill the display. */
const asked = 3;
const healthPatienceMs = 10_000;

/** The health of the endpoints that rows are sent to, in one line. */
export function askHealth(target: Target, endpoints: readonly string[], gate: Gate): Observable<string> {
  const { apiKey, baseUrl } = target;
  if (baseUrl === undefined || endpoints.length === 0) return of();
  const client = createLateClient({ apiKey, baseUrl, gate });
  const answers = endpoints.slice(0, asked).map((endpoint) =>
    client
      .queue(endpoint)
      .health()
      .pipe(
        timeout(healthPatienceMs),
        map((health) => `${endpoint}: ${describeHealth(health) ?? 'no word of its workers'}`),
      ),
  );
  return forkJoin(answers).pipe(map((words) => `the service says ${words.join('; ')}`));
}

/** An answer of /health in a few words; `undefined` if it has no usable fields. */
export function describeHealth({ jobs, workers }: Health): string | undefined {
  const ready = (workers?.idle ?? 0) + (workers?.running ?? 0);
  const busy = ready === 0 ? 'no worker is up' : `${workers?.running ?? 0} of ${ready} workers busy`;
  const queued = jobs?.inQueue === undefined ? undefined : `${jobs.inQueue} jobs in its queue`;
  return listed([workers && busy, queued]) || undefined;
}
