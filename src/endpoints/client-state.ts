import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { checkNames } from '../contract/check-option.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import type { JobEvent } from '../contract/outcome.js';
import { checkApiKey } from '../contract/request-parts.js';
import type { ClientContext } from '../operators/requests/exchange.js';
import type { OpenJobs } from '../operators/requests/open-jobs.js';
import type { JobTrace, RequestProbe, TracedCall } from '../operators/requests/request-report.js';
import { ReplyRoom, ReplySizes } from '../operators/requests/reply-room.js';
import { boundOf, RequestSlots } from '../operators/requests/request-slots.js';
import { createUntilAborted, type UntilAborted } from '../operators/until-aborted.js';
import { openGate } from '../policy/gates/built-in-gates.js';
import { DueQueue } from '../policy/due-queue.js';
import { EndpointMap } from '../policy/gates/endpoint-map.js';
import type { Gate } from '../policy/gates/gate.js';
import { guardGate, guardRandom } from '../policy/guard-hooks.js';
import { createJobIds, type JobIds } from '../policy/job-ids.js';
import { createRetryQuota } from '../policy/retry-quota.js';
import type { Transport } from '../transport/transport.js';
import { checkBaseUrl } from './wire-requests.js';

/** Options of `createClient`; all are optional. */
export interface ClientOptions {
  /** Sent as `Authorization: Bearer …` only to `baseUrl` and the hosts of `routes()`. Without it the service answers 401. (spec 5) */
  apiKey?: string | undefined;
  /** {base_url} of queue endpoints, which `queue` and `imageEdit` need. A trailing `/` is dropped; a trailing `/v2` is refused. */
  baseUrl?: string | undefined;
  /** Sends the requests. @defaultValue a transport over got with its own sockets */
  transport?: Transport | undefined;
  /**
   * Admits every request. If the gate throws, the error is reported (`config.onUnhandledError` of rxjs) and no purchase is
   * lost. Only an error of `admit` for a submission errors the job, because nothing was sent.
   * @defaultValue `openGate()`: no rate limit; all requests to an endpoint pause if it refuses half of them or fails repeatedly
   */
  gate?: Gate | undefined;
  /**
   * Records which job has which id. If an answer to /run or /runsync has the id of another job, its job ends as `unknown`, with
   * `paid` maybe. @defaultValue `createJobIds()`: the last 10,000 ids of this client
   */
  jobIds?: JobIds | undefined;
  /**
   * How many requests are on the wire at once, of all kinds and endpoints together: a whole number from 1. Further requests
   * wait, and can be left and cancelled while they wait. Free slots are shared fairly among endpoints, and among polls and
   * submissions. `Infinity`: no limit.
   * @defaultValue 256 submissions and 256 polls for each endpoint; no limit for /runsync and routes, which are answered late. With
   *   any limit, fewer polls are on the wire where results are large: as many as bring about 32 MiB
   */
  maxConcurrency?: number | undefined;
  /** The only clock, also for gates and poll schedules that were created without one. @defaultValue asyncScheduler */
  scheduler?: SchedulerLike | undefined;
  /** Random numbers from 0 to 1, for jitter. @defaultValue Math.random */
  random?: (() => number) | undefined;
  /**
   * Returns the header `traceparent` of a request (W3C Trace Context), so that the service's spans join your trace. An invalid
   * `traceparent` is not sent. If this function throws, the error is reported and no purchase is lost.
   * @defaultValue none is sent
   */
  traceparent?: ((call: TracedCall) => string | undefined) | undefined;
}

/** The state that the endpoints of one client share. Two clients share nothing. */
export interface ClientState extends Omit<
  ClientContext,
  'endpointId' | 'host' | 'quota' | 'slots' | 'open' | 'probe'
> {
  /** The state that all requests of an endpoint share. `endpointId` is the empty string for a load-balanced route. */
  readonly contextOf: (endpointId: string, baseUrl: string, maxConcurrency?: number) => ClientContext;
  readonly apiKey: string | undefined;
  /** @throws InvalidOptionError without a base URL */
  readonly baseUrl: () => string;
  readonly untilAborted: UntilAborted;
  /** A name for a job without a `key`. */
  readonly nextKey: (endpointId: string) => string;
  /** Receives the events of jobs, if anybody is subscribed to them. */
  readonly activity: { readonly isObserved: boolean; publish(event: Activity): void };
  /** Notes the time of an event of a job, and reports it. One function for all jobs, of which each would keep its own. */
  readonly report: (event: JobEvent<unknown>, trace: JobTrace) => void;
}

/** An event of any job, with the job's key, endpoint and id. */
export type Activity = JobEvent<unknown> & {
  /** The empty string for a load-balanced route. */
  endpointId: string;
  key: string;
  at: number;
  attempt: number;
};

interface Parts {
  readonly transport: Transport;
  readonly channels: { readonly request: RequestProbe['requests']; readonly job: ClientState['activity'] };
  readonly open: OpenJobs;
  readonly hasExactNumbers: boolean | undefined;
  readonly replies: ReplyRoom | undefined;
  readonly createScope: ClientContext['createScope'];
}

/** @throws InvalidOptionError for an invalid key or base URL */
export function clientState(options: ClientOptions, parts: Parts): ClientState {
  const { transport, channels, open, hasExactNumbers, replies = new ReplyRoom(), createScope } = parts;
  const { apiKey, scheduler = asyncScheduler, traceparent } = options;
  const random = guardRandom(options.random);
  const problem = apiKey === undefined ? undefined : checkApiKey(apiKey);
  if (problem !== undefined) throw new InvalidOptionError('apiKey', problem);
  const baseUrl = options.baseUrl === undefined ? undefined : checkBaseUrl(options.baseUrl, 'baseUrl');
  const { gate = openGate() } = options;
  gate.useClock?.({ scheduler, random });
  const bound = boundOf(options.maxConcurrency);
  const ofClient = options.maxConcurrency === undefined ? undefined : bound;
  // One for all objects of an endpoint, so that their polls wait in one order. Endpoints that exist already keep theirs.
  const slotsOf = new EndpointMap(
    ({ host, endpointId }) => new RequestSlots(new ReplySizes(replies), ofClient, `${host}/${endpointId}`),
    () => true,
  );
  let jobs = 0;
  const quotas = new EndpointMap(
    () => createRetryQuota(),
    (quota) => quota.isFull,
  );
  const shared = {
    transport,
    gate: guardGate(gate),
    open,
    probe: { requests: channels.request, traceparent },
    jobIds: options.jobIds ?? createJobIds(),
    scheduler,
    deadlines: new DueQueue(scheduler),
    random,
    secrets: apiKey === undefined ? [] : [apiKey],
    hasExactNumbers,
    createScope,
  };
  return {
    ...shared,
    contextOf: (endpointId, url, maxConcurrency) => {
      const { host } = new URL(url);
      const own = slotsOf.of({ host, endpointId });
      const slots = maxConcurrency === undefined ? own : own.within([...boundOf(maxConcurrency), ...bound]);
      return { ...shared, endpointId, host, quota: quotas.of({ endpointId, host }), slots };
    },
    apiKey,
    baseUrl: () => {
      if (baseUrl === undefined)
        throw new InvalidOptionError('baseUrl', 'is missing: queue endpoints need it');
      return baseUrl;
    },
    untilAborted: createUntilAborted(),
    nextKey: (endpointId) => `${endpointId}#${++jobs}`,
    activity: channels.job,
    report: (event, trace) => {
      const { endpointId, key } = trace;
      stamp(event, trace, scheduler.now());
      if (channels.job.isObserved) channels.job.publish({ ...event, endpointId, key } as Activity);
    },
  };
}

/** Adds to an event its time and the facts about its job's requests so far. */
function stamp(event: JobEvent<unknown>, { attempt, httpStatus, requestId }: JobTrace, at: number): void {
  event.at = at;
  event.attempt = attempt;
  if (httpStatus !== undefined) event.httpStatus = httpStatus;
  if (requestId !== undefined) event.requestId = requestId;
}

const isFunction = (value: object): boolean => typeof value === 'function';
const isText = (value: object): boolean => value instanceof String;

/** The members that each option must have. */
const parts: Readonly<Record<keyof ClientOptions, (value: object) => boolean>> = {
  apiKey: isText,
  baseUrl: isText,
  transport: isFunction,
  gate: (value) => 'admit' in value && 'observe' in value,
  jobIds: (value) => 'claim' in value,
  scheduler: (value) => 'now' in value && 'schedule' in value,
  maxConcurrency: (value) => value instanceof Number,
  random: isFunction,
  traceparent: isFunction,
};

export function checkClientOptions(options: ClientOptions): ClientOptions {
  checkNames(options, 'a client', Object.keys(parts));
  for (const [name, value] of Object.entries(options))
    if (
      value !== undefined &&
      (value === null || !parts[name as keyof ClientOptions](Object(value) as object))
    )
      throw new InvalidOptionError(name, 'is not what its type says');
  return options;
}
