import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Bill } from './bill.js';
import type { Latency } from './settings/parse-latency.js';
import type { Clock } from './clock.js';
import type { DrawnFaults, ServiceRequest } from './faults/parse-faults.js';
import type { UserFunctions } from './settings/user-functions.js';
import type { PictureStore } from './picture-store.js';
import type { EndpointQueue } from './queue/endpoint-queue.js';
import type { JobStore } from './queue/job-store.js';

/** The state that the handlers of the service share. */
export interface Service {
  apiKey: string;
  clock: Clock;
  random: () => number;
  latency: Latency;
  coldStartMs: number;
  /** With more waiting jobs than this, an endpoint answers submissions with 429. */
  maxQueued: number;
  queues: ReadonlyMap<string, EndpointQueue>;
  jobs: JobStore;
  bill: Bill;
  routes: NonNullable<UserFunctions['routes']>;
  pictures: PictureStore;
  /** The folder of local pictures, if one is served. */
  files: string | undefined;
  draw: (request: ServiceRequest) => DrawnFaults;
  /** Takes a token of the rate limit: 0, or the ms until there is one. */
  takeTurn: () => number;
  /** Whether a 429 of the rate limit carries Retry-After. */
  sendsRetryAfter: boolean;
  closing: AbortSignal;
}

/** hono's context, with Node's request and response. */
export type Call = Context<{ Bindings: HttpBindings }>;
