/** The answer of /health. */
export interface QueueHealth {
  jobs: { completed: number; failed: number; inProgress: number; inQueue: number; retried: number };
  workers: {
    idle: number;
    initializing: number;
    ready: number;
    running: number;
    throttled: number;
    unhealthy: number;
  };
}

/** Several endpoints taken together. */
export function addHealth(each: readonly QueueHealth[]): QueueHealth {
  const sum = <T extends Record<string, number>>(parts: readonly T[], zero: T): T =>
    Object.fromEntries(
      Object.keys(zero).map((key) => [key, parts.reduce((total, part) => total + (part[key] ?? 0), 0)]),
    ) as T;
  return {
    jobs: sum(
      each.map((health) => health.jobs),
      { completed: 0, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
    ),
    workers: sum(
      each.map((health) => health.workers),
      { idle: 0, initializing: 0, ready: 0, running: 0, throttled: 0, unhealthy: 0 },
    ),
  };
}
