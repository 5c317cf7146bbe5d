import * as z from 'zod';

const text = z.string().optional().catch(undefined);

/**
 * The `output` of an image edit, tolerantly: a field of another type counts as absent, and which one carries a base64
 * result is not specified. (spec 2.6)
 */
export const imageEditOutputSchema = z.looseObject({
  /** Expires 7 days after creation. */
  image_url: text,
  /** The picture's URL under the name that some models use. */
  result: text,
  /** USD; absent when it was missing, null or no price. */
  cost: z.number().nonnegative().optional().catch(undefined),
});

/** The `output` of an image edit; `image_url` expires 7 days after creation. (spec 2.6) */
export type ImageEditOutput = z.infer<typeof imageEditOutputSchema>;
