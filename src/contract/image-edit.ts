import * as z from 'zod';
import { checkHttpUrl } from './request-parts.js';
import { maxImages } from './limits.js';

export const resolutions = ['1k', '2k', '4k'] as const;
export const outputFormats = ['png', 'jpeg'] as const;

export type Resolution = (typeof resolutions)[number];

/** The service's defaults. Absent fields are not sent. (spec 2.5) */
export const imageEditDefaults = {
  resolution: '1k',
  output_format: 'png',
  enable_base64_output: false,
} as const;

const imageUrl = () =>
  z.string().superRefine((url, context) => {
    const problem = checkHttpUrl(url);
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: `${problem} (got ${shorten(url)})` });
  });

/**
 * The schemas of the fields, each created when it is read. Creating all would take 4 % of the time of a small plan, which needs
 * one.
 */
export const imageEditFields = {
  get images() {
    return z
      .array(imageUrl())
      .refine((images) => images.length > 0, 'needs at least 1 image URL')
      .refine((images) => images.length <= maxImages, `takes at most ${maxImages} image URLs`);
  },
  get prompt() {
    return z.string().refine((text) => text.trim() !== '', 'is empty');
  },
  /** `2K` is accepted as `2k`. */
  get resolution() {
    return z.preprocess(lowerCase, z.enum(resolutions)).optional();
  },
  get aspect_ratio() {
    const form = 'is not a ratio of the form <width>:<height>, such as 16:9';
    return z
      .string()
      .regex(/^[1-9]\d{0,4}:[1-9]\d{0,4}$/, form)
      .optional();
  },
  get output_format() {
    return z.enum(outputFormats).optional();
  },
  get enable_base64_output() {
    return z.boolean().optional();
  },
};

/** The `input` of an image edit, read strictly: an unknown field is an error. (spec 2.5) */
export const imageEditInputSchema = z.strictObject(imageEditFields);

/** The same, but accepts unknown fields, for models that have more. */
export const looseImageEditInputSchema = /* @__PURE__ */ z.looseObject(imageEditFields);

/** The `input` of an image edit: 1 to 14 image URLs and a prompt. (spec 2.5) */
export type ImageEditInput = z.infer<typeof imageEditInputSchema>;

function lowerCase(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

function shorten(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
