import { checkObject } from '../contract/check-option.js';
import type { FailureCode, RouteGetFailureCode, RoutePostFailureCode } from '../contract/failure-code.js';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { checkRoutePath } from '../contract/request-parts.js';
import type { StandardSchema } from '../contract/standard-schema.js';
import type { SyncJob } from '../operators/job.js';
import { createJob } from '../operators/purchase/create-job.js';
import { readRoute } from '../operators/purchase/read-route.js';
import { resolveQueueOptions, type RetryPolicy } from '../policy/queue-options.js';
import { jobSpecOf, type CallOptions } from './call-options.js';
import type { ClientState } from './client-state.js';
import { readInput } from './schema-checks.js';
import { checkBaseUrl, createWireRequests, toJson } from './wire-requests.js';

/** Options of a load-balanced endpoint. Durations in ms. */
export interface RouteOptions {
  /**
   * How long a function may take until its reply begins. After that a POST is `unknown`. @defaultValue 600_000, or `deadlineMs`
   * if that is less
   */
  executionTimeoutMs?: number | undefined;
  /** Time from the first subscription, in ms; nothing is sent after it. @defaultValue 3_600_000 */
  deadlineMs?: number | undefined;
  /** How often and how soon a refused POST or a failed GET is sent again. A POST without a known result is never sent again. */
  retry?: RetryPolicy | undefined;
  /** How many requests are on the wire at once, as for a queue endpoint. @defaultValue only the client's limit */
  maxConcurrency?: number | undefined;
}

export interface RouteCallOptions<O = unknown> extends CallOptions<O> {
  /** Checks the answer. The result of the schema is emitted. */
  output?: StandardSchema<unknown, O> | undefined;
}

/** A call of a route, in the shape of a job. Its `jobId` is the empty string, because routes have no job ids. */
export type RouteCall<O, C extends FailureCode = FailureCode> = SyncJob<O, C>;

/** A load-balanced endpoint. A route is a path below its base URL; it never leads to another host. (spec 4.2) */
export interface RouteEndpoint {
  /**
   * GET: cold. Each subscription sends a request, and repeats it after a temporary failure. @throws InvalidOptionError for an
   * invalid route
   */
  get<O = unknown>(route: string, options?: RouteCallOptions<O>): RouteCall<O, RouteGetFailureCode>;
  /**
   * POST: a purchase. Each call sends one request for all subscribers, and repeats it only if it was provably refused. The body
   * is sent as it is, not inside `input`. @throws InvalidOptionError for an invalid route
   */
  post<O = unknown>(
    route: string,
    body: unknown,
    options?: RouteCallOptions<O>,
  ): RouteCall<O, RoutePostFailureCode>;
}

const defaultExecutionTimeoutMs = 600_000;

/** @throws InvalidOptionError for an invalid base URL or option */
export function createRouteEndpoint(
  client: ClientState,
  lbBaseUrl: string,
  options: RouteOptions,
): RouteEndpoint {
  const base = checkBaseUrl(lbBaseUrl, 'lbBaseUrl');
  checkObject(options);
  const { executionTimeoutMs = defaultExecutionTimeoutMs } = options;
  const resolved = resolveQueueOptions({ ...options, executionTimeoutMs });
  // The deadline does not cut off a POST on the wire, so `responseMs` must end one that is never answered.
  const responseMs = options.executionTimeoutMs ?? Math.min(executionTimeoutMs, resolved.deadlineMs);
  const wire = createWireRequests(client.apiKey);
  const context = client.contextOf('', base, resolved.maxConcurrency);
  const request = (method: 'GET' | 'POST', route: string, body?: string) =>
    wire({
      method,
      url: routeUrl(base, route),
      body,
      responseMs,
      paid: method === 'POST',
    });
  const spec = <O>(call: RouteCallOptions<O>) => {
    checkObject(call);
    return jobSpecOf(client, { endpoint: '', name: 'route', options: resolved, call, output: call.output });
  };
  return {
    get: <O>(route: string, call: RouteCallOptions<O> = {}) =>
      readRoute({ ...spec(call), request: request('GET', route) }, context) as RouteCall<
        O,
        RouteGetFailureCode
      >,
    post: <O>(route: string, body: unknown, call: RouteCallOptions<O> = {}) => {
      routeUrl(base, route);
      const sent = readInput(undefined, body, (value) => request('POST', route, toJson(value)));
      const job = createJob({ ...spec(call), purpose: 'route-post', sync: true, request: sent }, context);
      return job as RouteCall<O, RoutePostFailureCode>;
    },
  };
}

function routeUrl(base: string, route: string): string {
  const problem = checkRoutePath(route);
  if (problem !== undefined)
    throw new InvalidOptionError('route', `${problem} (got ${JSON.stringify(route)})`);
  return `${base}/${route.replace(/^\//, '')}`;
}
