import * as z from 'zod';
import { checkHttpUrl } from '../../../src/contract/request-parts.js';
import { maxImages } from '../../../src/contract/limits.js';

/** The input of an edit with the service's defaults filled in. (spec 2.5) */
export interface EditRequest {
  images: string[];
  prompt: string;
  resolution: '1k' | '2k' | '4k';
  aspect_ratio?: string | undefined;
  output_format: 'png' | 'jpeg';
  enable_base64_output: boolean;
}

const imageUrl = z.string().superRefine((url, context) => {
  const problem = checkHttpUrl(url);
  if (problem !== undefined)
    context.addIssue({
      code: 'custom',
      message: `invalid image URL ${JSON.stringify(url.slice(0, 200))}: ${problem}`,
    });
});

const editRequestSchema: z.ZodType<EditRequest> = z.object({
  images: z
    .array(imageUrl, 'must be an array of image URLs')
    .min(1, 'must have 1 to 14 entries')
    .max(maxImages, 'must have 1 to 14 entries'),
  prompt: z.string('must be a text').refine((text) => text.trim() !== '', 'must not be empty'),
  resolution: z.enum(['1k', '2k', '4k'], 'must be 1k, 2k or 4k').default('1k'),
  aspect_ratio: z
    .string('must be of the form <width>:<height>')
    .regex(/^[1-9]\d{0,4}:[1-9]\d{0,4}$/, 'must be of the form <width>:<height>')
    .optional(),
  output_format: z.enum(['png', 'jpeg'], 'must be png or jpeg').default('png'),
  enable_base64_output: z.boolean('must be true or false').default(false),
});

/**
 * Checks the input of an edit; unknown fields are ignored, because models differ in their fields.
 * @throws BadEdit that names the field
 */
export function readEditRequest(input: unknown): EditRequest {
  const read = editRequestSchema.safeParse(input);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  throw new BadEdit(`input.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is invalid'}`);
}

/** An edit that cannot be made: FAILED, and HTTP 400 on /runsync. (spec 7.2) */
export class BadEdit extends Error {
  override readonly name = 'BadEdit';
  readonly status = 400;
}
