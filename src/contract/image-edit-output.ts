import * as z from 'zod';

const text = z.string().optional().catch(undefined);

/**
 * The `output` of an image edit, read tolerantly: a field of the wrong type counts as absent. It is not specified which field
 * has a base64 result. (spec 2.6)
 */
export const imageEditOutputSchema = z.looseObject({
  /** Expires 7 days after creation. */
  image_url: text,
  /** The picture's URL under the name that some models use. */
  result: text,
  /** USD; absent if it was missing, null or not a price. */
  cost: z.number().nonnegative().optional().catch(undefined),
});

/** The `output` of an image edit; `image_url` expires 7 days after creation. (spec 2.6) */
export type ImageEditOutput = z.infer<typeof imageEditOutputSchema>;
