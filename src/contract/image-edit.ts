import * as z from 'zod';
import { checkHttpUrl } from './request-parts.js';
import { maxImages } from './limits.js';

export const resolutions = ['1k', '2k', '4k'] as const;
export const outputFormats = ['png', 'jpeg'] as const;

export type Resolution = (typeof resolutions)[number];

/** What the service takes when the field is absent. Absent fields are not sent. (spec 2.5) */
export const imageEditDefaults = {
  resolution: '1k',
  output_format: 'png',
  enable_base64_output: false,
} as const;

const imageUrl = z.string().superRefine((url, context) => {
  const problem = checkHttpUrl(url);
  if (problem !== undefined)
    context.addIssue({ code: 'custom', message: `${problem} (got ${shorten(url)})` });
});

const fields = {
  images: z
    .array(imageUrl)
    .refine((images) => images.length > 0, 'needs at least 1 image URL')
    .refine((images) => images.length <= maxImages, `takes at most ${maxImages} image URLs`),
  prompt: z.string().refine((text) => text.trim() !== '', 'is empty'),
  /** `2K` is accepted as `2k`. */
  resolution: z.preprocess(lowerCase, z.enum(resolutions)).optional(),
  aspect_ratio: z
    .string()
    .regex(/^[1-9]\d{0,4}:[1-9]\d{0,4}$/, 'is no ratio of the form <width>:<height>, such as 16:9')
    .optional(),
  output_format: z.enum(outputFormats).optional(),
  enable_base64_output: z.boolean().optional(),
};

/** The `input` of an image edit, strictly: an unknown field is an error. (spec 2.5) */
export const imageEditInputSchema = z.strictObject(fields);

/** The same, but unknown fields are accepted, for models that take more. */
export const looseImageEditInputSchema = z.looseObject(fields);

/** The `input` of an image edit: 1 to 14 image URLs and a prompt. (spec 2.5) */
export type ImageEditInput = z.infer<typeof imageEditInputSchema>;

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

function lowerCase(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

function shorten(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
