import type { FailureCode } from '../../../src/contract/failure-code.js';

/** What a person can do about rows that failed with a code: one sentence. */
export function advise(code: FailureCode): string {
  return advice[code];
}

const again = 'once the cause is gone, run again with --retry failed: nothing was bought';

const advice: Readonly<Record<FailureCode, string>> = {
  'invalid-row': 'correct the rows and run again',
  rejected: 'the service refused the input: correct the rows and run again with --retry failed',
  'job-failed': again,
  'job-cancelled': again,
  'job-timed-out': 'raise the execution timeout of the endpoint, then run again with --retry failed',
  charged: 'look at the account: the service reports a cost for them; --retry charged buys them again',
  'route-not-found': 'check route, method and --lb-base-url, then run again with --retry failed',
  'route-failed': again,
  transport: again,
  'malformed-reply': again,
  deadline: 'run again: their jobs are asked about once more, nothing is bought; --timeout gives them longer',
  expired:
    'the service no longer knows their jobs, so their results are gone: each start asks for them once more, --retry expired buys them again',
  unknown:
    'they may have been bought: look at the account, then `millrace settle FOLDER ID`, or --retry unknown to risk paying twice',
  'output-mismatch': 'they are paid and their output is kept: compare it with the schema',
  download:
    'run again or `millrace refetch`: their pictures are fetched, nothing is bought; their URLs live 7 days',
  refused: 'run again later: nothing was bought',
  unreachable: 'run again later: nothing was bought',
  unauthorized: 'check the key, then run again',
  'endpoint-not-found': 'check the endpoint, then run again',
  insecure: 'check the address and its certificate, then run again',
  'over-budget': 'raise --max-cost and run again',
};
