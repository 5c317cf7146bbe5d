import * as z from 'zod';

/** The answer of /purge-queue, tolerantly. */
export const purgeReplySchema = z.looseObject({
  /** How many waiting jobs were taken out of the queue, of everybody; absent when the service does not say. */
  removed: z.number().nonnegative().optional().catch(undefined),
  /** `completed` on live services. */
  status: z.string().optional().catch(undefined),
});

/** What emptying a queue came to. */
export type Purged = z.infer<typeof purgeReplySchema>;
