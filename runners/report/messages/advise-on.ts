import type { FailureCode } from '../../../src/contract/failure-code.js';

/** What a person can do about rows that failed with this code. */
const advice: Record<FailureCode, string> = {
  'invalid-row': 'Correct the rows in the manifest and run again: every start checks them anew.',
  rejected:
    'The service refused what these rows send. Correct them in the manifest, or here in the gallery, then run with `--retry failed`.',
  'job-failed':
    'The function itself failed. If the cause can pass, run with `--retry failed`; if the same rows fail again, change them.',
  'job-cancelled':
    'Somebody cancelled these jobs at the service. Run with `--retry failed` to send them again.',
  'job-timed-out':
    'The endpoint stopped these jobs at its own time limit. Raise that limit or make the work smaller, then run with `--retry failed`.',
  charged:
    'These jobs did not complete, and the service reports a cost for them. `--retry charged` buys them again.',
  'route-not-found':
    'No route has this path and method. Correct the route in the manifest, then run with `--retry failed`.',
  'route-failed':
    'The function behind the route answered with an error. Correct the rows, then run with `--retry failed`.',
  transport: 'The route could not be reached. Run with `--retry failed` when it can.',
  'malformed-reply':
    'The route answered with something unreadable. Look at it in run.log, then run with `--retry failed`.',
  deadline: 'These jobs may still be running. Run again: they are asked for first, and nothing is bought.',
  expired: 'These jobs ran, and the service has dropped their results. `--retry expired` buys them again.',
  unknown:
    'Nobody knows whether the service accepted these requests, so they are held and their price stays reserved. Look them up at the service; then `millrace settle` each, or accept paying twice with `--retry unknown`.',
  'output-mismatch':
    'These jobs completed and are paid; their output is kept in the journal, but is not of the expected shape.',
  download:
    'These pictures are paid for and wait at the service, for 7 days. Run again, or `millrace refetch`: nothing is bought.',
  refused: 'The service was too busy. Run again later.',
  unreachable: 'The service could not be reached. Run again later.',
  unauthorized: 'The API key was refused. Set MILLRACE_API_KEY to one that is valid, and run again.',
  'endpoint-not-found':
    'The service has no such endpoint. Correct `--endpoint` or the endpoint column, and run again.',
  insecure: 'The connection could not be trusted, so nothing was sent. Check `--base-url`, and run again.',
  'over-budget': 'There was no room left under the cost cap. Run again with a higher `--max-cost`.',
};

export function adviseOn(code: FailureCode): string {
  return advice[code];
}
