import * as z from 'zod';

/**
 * The answer of /stream, tolerantly: the state of the job, and the chunks since the last such answer. The service hands
 * each chunk out once.
 */
export const streamReplySchema = z.looseObject({
  status: z.string().min(1),
  stream: z
    .array(z.unknown())
    .nullish()
    .transform((chunks) => (chunks ?? []).map(chunkIn)),
});

export type StreamReply = z.infer<typeof streamReplySchema>;

/** Live services wrap each chunk as `{ output }`. */
function chunkIn(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'output' in item ? item.output : item;
}
