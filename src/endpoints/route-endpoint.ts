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
  /** How long a function may take until its reply begins. Past it a POST is `unknown`. @defaultValue 600_000, or `deadlineMs` where that is less */
  executionTimeoutMs?: number;
  /** From the first subscription; nothing is sent after it. @defaultValue 3_600_000 */
  deadlineMs?: number;
  /** How often and how soon a refused POST and a failed GET are sent again; a POST whose result nobody knows never is. */
  retry?: RetryPolicy;
  /** Requests on the wire at once, as of a queue endpoint. @defaultValue no bound of its own */
  maxConcurrency?: number;
}

export interface RouteCallOptions<O = unknown> extends CallOptions<O> {
  /** Checks the answer, and gives what is emitted. */
  output?: StandardSchema<unknown, O>;
}

/** A call of a route, in the shape of a job. Its `jobId` is the empty string: there is none. */
export type RouteCall<O, C extends FailureCode = FailureCode> = SyncJob<O, C>;

/** A load-balanced endpoint. A route is a path below its base URL; no route names another host. (spec 4.2) */
export interface RouteEndpoint {
  /** GET: cold, each subscription asks, and tries again what may pass. @throws InvalidOptionError for a route that is no path */
  get<O = unknown>(route: string, options?: RouteCallOptions<O>): RouteCall<O, RouteGetFailureCode>;
  /**
   * POST: a purchase, one request a call for all subscribers, tried again only when it was provably refused. The body is
   * sent as it is, in no `input`. @throws InvalidOptionError for a route that is no path
   */
  post<O = unknown>(
    route: string,
    body: unknown,
    options?: RouteCallOptions<O>,
  ): RouteCall<O, RoutePostFailureCode>;
}

const defaultExecutionTimeoutMs = 600_000;

/** @throws InvalidOptionError for a base URL or options that cannot be used */
export function createRouteEndpoint(
  client: ClientState,
  lbBaseUrl: string,
  options: RouteOptions,
): RouteEndpoint {
  const base = checkBaseUrl(lbBaseUrl, 'lbBaseUrl');
  checkObject(options);
  const { executionTimeoutMs = defaultExecutionTimeoutMs } = options;
  const resolved = resolveQueueOptions({ ...options, executionTimeoutMs });
  // A POST on the wire is not broken off at its deadline: nothing else would end one that the service never answers.
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
