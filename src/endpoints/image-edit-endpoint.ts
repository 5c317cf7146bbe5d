import { imageEditDefaults, imageEditInputSchema, imageEditOutputSchema } from '../contract/image-edit.js';
import type { ImageEditInput, ImageEditOutput } from '../contract/image-edit.js';
import type { QueueOptions } from '../policy/queue-options.js';
import type { ClientState } from './client-state.js';
import { createQueueEndpoint } from './create-queue-endpoint.js';
import type { QueueEndpoint } from './queue-endpoint.js';

/**
 * The hosted image-editing endpoint: a queue endpoint whose input is checked strictly before anything is sent, and whose
 * output is read tolerantly. The resolution is what its poll times are learned by. (spec 2.5, 2.6, 4.3)
 */
export function createImageEditEndpoint(
  client: ClientState,
  id: string,
  options: QueueOptions,
): QueueEndpoint<ImageEditInput, ImageEditOutput> {
  const schemas = { input: imageEditInputSchema, output: imageEditOutputSchema };
  const queue = createQueueEndpoint<ImageEditInput, ImageEditOutput>(client, id, options, schemas);
  return {
    id,
    run: (input, call) => queue.run(input, { variant: variantOf(input), ...call }),
    runSync: (input, call) => queue.runSync(input, { variant: variantOf(input), ...call }),
    attach: (jobId, call) => queue.attach(jobId, call),
    retry: (jobId, call) => queue.retry(jobId, call),
    stream: (job, call) => queue.stream(job, call),
    status: (jobId, call) => queue.status(jobId, call),
    cancel: (jobId) => queue.cancel(jobId),
    health: () => queue.health(),
    watchHealth: (call) => queue.watchHealth(call),
    purgeQueue: () => queue.purgeQueue(),
  };
}

function variantOf({ resolution = imageEditDefaults.resolution }: ImageEditInput): string {
  return resolution.toLowerCase();
}
