import type { ResolveImage } from '../manifest-settings.js';
import { quoteValue } from '../quote-value.js';

/** Two letters or more: `C:\pictures` is a path. */
const scheme = /^[a-z][a-z\d+.-]+:/i;

/**
 * Turns the paths among images into URLs and leaves URLs as they are. Each path that cannot be had is a problem; entries
 * that are no text are left for the check of the input.
 */
export function resolveImages(
  images: readonly unknown[],
  resolve: ResolveImage | undefined,
): { readonly images: readonly unknown[]; readonly problems: readonly string[] } {
  if (images.every((image) => typeof image !== 'string' || scheme.test(image)))
    return { images, problems: [] };
  const problems: string[] = [];
  const resolved = images.map((image, at) => {
    if (typeof image !== 'string' || image === '' || scheme.test(image)) return image;
    const found = resolve?.(image) ?? { problem: noPaths };
    if (typeof found === 'string') return found;
    problems.push(`image ${at + 1}: ${quoteValue(image)} ${found.problem}`);
    return undefined;
  });
  return { images: resolved, problems };
}

const noPaths =
  'is a path: say where pictures lie with --images-base URL, upload them with --upload s3://bucket/prefix, rehearse with --local, or write an http or https URL';
