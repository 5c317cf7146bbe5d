import { InvalidOptionError } from '../contract/millrace-error.js';
import type { JobEvent, Outcome } from '../contract/outcome.js';
import type { StandardSchema } from '../contract/standard-schema.js';
import type { JobSpec } from '../operators/purchase/job-spec.js';
import type { ClientContext } from '../operators/requests/exchange.js';
import type { JobTrace } from '../operators/requests/request-report.js';
import type { UntilAborted } from '../operators/until-aborted.js';
import type { ResolvedQueueOptions } from '../policy/queue-options.js';
import type { AttachOptions, CallOptions, SyncOptions } from './call-options.js';
import { checkOutput } from './schema-checks.js';

/** What the endpoints of one client share. Nothing of it is shared between clients. */
export interface ClientState extends Omit<
  ClientContext,
  'endpointId' | 'host' | 'quota' | 'slots' | 'open' | 'probe'
> {
  /** What all requests of an endpoint share. On a load-balanced route `endpointId` is the empty string. */
  readonly contextOf: (endpointId: string, baseUrl: string, maxConcurrency?: number) => ClientContext;
  readonly apiKey: string | undefined;
  /** @throws InvalidOptionError when none is configured */
  readonly baseUrl: () => string;
  readonly untilAborted: UntilAborted;
  /** A name for a job that was given none. */
  readonly nextKey: (endpointId: string) => string;
  /** Where events of jobs go, if somebody wants them. */
  readonly activity: { readonly isObserved: boolean; publish(event: Activity): void };
}

/** An event of any job, with whose it is. */
export type Activity = JobEvent<unknown> & {
  /** The empty string on a load-balanced route. */
  endpointId: string;
  key: string;
  at: number;
  attempt: number;
};

interface Terms<O> {
  /** Endpoint id; the empty string on a route. */
  readonly endpoint: string;
  /** What keys begin with. */
  readonly name: string;
  readonly options: ResolvedQueueOptions;
  readonly call: CallOptions<O>;
  readonly output: StandardSchema<unknown, O> | undefined;
}

/** What all calls of a client have in common. @throws InvalidOptionError for a deadline that is none */
export function jobSpecOf<O>(
  client: ClientState,
  { endpoint, name, options, call, output }: Terms<O>,
): Omit<JobSpec<O>, 'request' | 'purpose' | 'sync'> {
  const { key = client.nextKey(name), deadlineMs = options.deadlineMs, signal, checkpoint, variant } = call;
  for (const name in call)
    if (!callOptions.has(name))
      throw new InvalidOptionError(name, `is no option of a call: ${[...callOptions].join(', ')}`);
  if (!(deadlineMs >= 0))
    throw new InvalidOptionError('deadlineMs', `is no number from 0 on (got ${deadlineMs})`);
  const trace: JobTrace = {
    endpointId: endpoint,
    key,
    attempt: 0,
    httpStatus: undefined,
    requestId: undefined,
  };
  return {
    key,
    endpoint,
    variant,
    options: deadlineMs === options.deadlineMs ? options : { ...options, deadlineMs },
    check: output === undefined ? unchecked<O> : (outcome) => checkOutput(output, outcome),
    checkpoint,
    untilAborted: client.untilAborted(signal),
    trace,
    report: (event) => {
      stamp(event, trace, client.scheduler.now());
      if (client.activity.isObserved)
        client.activity.publish({ ...event, endpointId: endpoint, key } as Activity);
    },
  };
}

/** Puts on an event when it was, and what is known of its job's requests by then. */
function stamp(event: JobEvent<unknown>, { attempt, httpStatus, requestId }: JobTrace, at: number): void {
  event.at = at;
  event.attempt = attempt;
  if (httpStatus !== undefined) event.httpStatus = httpStatus;
  if (requestId !== undefined) event.requestId = requestId;
}

const callOptions: ReadonlySet<string> = new Set<
  keyof CallOptions | keyof AttachOptions | keyof SyncOptions | 'output'
>([
  ...(['key', 'signal', 'deadlineMs', 'checkpoint', 'variant'] as const),
  ...(['submittedAt', 'wasExpired', 'policy', 'webhook', 'waitMs', 'output'] as const),
]);

function unchecked<O>(outcome: Outcome<unknown>): Outcome<O> {
  return outcome as Outcome<O>;
}
