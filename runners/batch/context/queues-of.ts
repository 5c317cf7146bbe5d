import type { Client } from '../../../src/endpoints/create-client.js';
import type { QueueEndpoint } from '../../../src/endpoints/queue-endpoint.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { ResolvedOptions } from './resolve-options.js';

/** The queue endpoint of that id. */
export type Queues = (endpoint: string) => QueueEndpoint<unknown, unknown>;

/** The queue endpoints of a run, each made for its first row: checking options again for every row is work for nothing. */
export function queuesOf(
  client: Client,
  { runsyncTimeoutMs, executionTimeoutsMs, timeoutMs, retries }: ResolvedOptions,
  poll: PollSchedule,
): Queues {
  const queues = new Map<string, QueueEndpoint<unknown, unknown>>();
  return (endpoint) => {
    const known = queues.get(endpoint);
    if (known) return known;
    const made = client.queue<string>(endpoint, {
      executionTimeoutMs: executionTimeoutsMs[endpoint] ?? runsyncTimeoutMs,
      deadlineMs: timeoutMs,
      poll,
      retry: { maxRetries: retries },
    });
    queues.set(endpoint, made);
    return made;
  };
}
