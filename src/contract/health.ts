import * as z from 'zod';

const count = z.number().optional().catch(undefined);

/** The answer of /health, tolerantly: what is missing or no number is absent. */
export const healthSchema = z.looseObject({
  jobs: z
    .looseObject({ completed: count, failed: count, inProgress: count, inQueue: count, retried: count })
    .optional()
    .catch(undefined),
  workers: z.looseObject({ idle: count, running: count }).optional().catch(undefined),
});

/** What an endpoint says of its jobs and workers; a number that it does not tell is absent. */
export type Health = z.infer<typeof healthSchema>;
