import type { Health } from '../../../src/contract/service-replies.js';

/** What /health says of an endpoint, in a few words; `undefined` when it says nothing of use. */
export function describeHealth({ jobs, workers }: Health): string | undefined {
  const ready = (workers?.idle ?? 0) + (workers?.running ?? 0);
  const parts = [
    workers === undefined
      ? undefined
      : ready === 0
        ? 'no worker is up'
        : `${workers.running ?? 0} of ${ready} workers busy`,
    jobs?.inQueue === undefined ? undefined : `${jobs.inQueue} jobs in its queue`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(', ');
}
