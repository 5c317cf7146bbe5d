/** Whether a failed job cost money. `maybe`: it may have run, or may still run; millrace never sends it again by itself. */
export type Paid = 'no' | 'maybe' | 'yes';

/** The meaning of a code, and whether a job that ends with it cost money. */
interface CodeFacts {
  readonly paid: Paid;
  /** `row`: an outcome of a row. `stop`: not an outcome; the row is still to be done, and the run may have to stop. */
  readonly scope: 'row' | 'stop';
  readonly meaning: string;
}

/** Every failure code with its facts. The table in the README is checked against it. */
export const failureCodes = {
  'invalid-row': { paid: 'no', scope: 'row', meaning: 'the row itself is wrong; nothing was sent' },
  rejected: { paid: 'no', scope: 'row', meaning: 'the service refused the input (HTTP 400)' },
  'job-failed': { paid: 'no', scope: 'row', meaning: 'the job ended as FAILED' },
  'job-cancelled': { paid: 'no', scope: 'row', meaning: 'the job was cancelled at the service' },
  'job-timed-out': {
    paid: 'no',
    scope: 'row',
    meaning: 'the job ran into its execution timeout at the service',
  },
  charged: {
    paid: 'yes',
    scope: 'row',
    meaning: 'the job did not complete, and the service reports a cost for it',
  },
  'route-not-found': { paid: 'no', scope: 'row', meaning: 'no route has this path and method (HTTP 404)' },
  'route-failed': { paid: 'no', scope: 'row', meaning: 'the function of the route answered with an error' },
  transport: { paid: 'no', scope: 'row', meaning: 'a GET route could not be reached, tries used up' },
  'malformed-reply': {
    paid: 'no',
    scope: 'row',
    meaning: 'a GET route answered something unreadable, tries used up',
  },
  deadline: { paid: 'maybe', scope: 'row', meaning: 'no end within the deadline; the job may still run' },
  expired: {
    paid: 'maybe',
    scope: 'row',
    meaning: 'the service no longer knows the job: it ran, and the result is gone',
  },
  unknown: {
    paid: 'maybe',
    scope: 'row',
    meaning: 'the request may have been accepted, and no id came back',
  },
  'output-mismatch': {
    paid: 'yes',
    scope: 'row',
    meaning: 'completed, but the output is not of the expected schema',
  },
  download: { paid: 'yes', scope: 'row', meaning: 'completed, but the picture is not saved yet' },
  refused: { paid: 'no', scope: 'stop', meaning: 'provably not accepted (429, busy), tries used up' },
  unreachable: { paid: 'no', scope: 'stop', meaning: 'no connection could be made, tries used up' },
  unauthorized: { paid: 'no', scope: 'stop', meaning: 'the API key is missing or refused (HTTP 401, 403)' },
  'endpoint-not-found': { paid: 'no', scope: 'stop', meaning: 'no such endpoint (HTTP 404 on submission)' },
  insecure: {
    paid: 'no',
    scope: 'stop',
    meaning: 'TLS verification failed, or the service redirects elsewhere',
  },
  'over-budget': { paid: 'no', scope: 'stop', meaning: 'no room left under the cost cap; nothing was sent' },
} as const satisfies Record<string, CodeFacts>;

/** Why a job failed; `failureCodes` has the facts of each. */
export type FailureCode = keyof typeof failureCodes;

/** Codes with which jobs of a queue endpoint end; only `withinBudget` gives `over-budget`, and only a batch gives `download`. */
export type QueueFailureCode = Exclude<
  FailureCode,
  'route-not-found' | 'route-failed' | 'transport' | 'malformed-reply' | 'over-budget' | 'download'
>;

/** Codes with which a POST of a route ends. */
export type RoutePostFailureCode =
  RouteCode | ('job-failed' | 'job-cancelled' | 'charged' | 'refused' | 'unreachable' | 'unknown');

/** Codes with which a GET of a route ends, which buys nothing. */
export type RouteGetFailureCode =
  RouteCode | ('job-failed' | 'charged' | 'refused' | 'unreachable' | 'transport' | 'malformed-reply');

type RouteCode =
  | 'invalid-row'
  | 'rejected'
  | 'route-not-found'
  | 'route-failed'
  | 'output-mismatch'
  | 'unauthorized'
  | 'insecure';
