import { quoteValue } from '../quote-value.js';
import type { ResolveImage } from '../manifest-settings.js';
import { checkHttpUrl } from '../../../../src/contract/request-parts.js';

/** At least two letters, because `C:\pictures` is a path. */
const scheme = /^[a-z][a-z\d+.-]+:/i;

/**
 * Replaces the paths among images by URLs and keeps URLs. A path that cannot be resolved is a problem; the check of the input
 * refuses entries that are not text.
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

/** How many paths are remembered: looking up a file takes as long as reading fifty rows, and many rows name the same files. */
const imagesKept = 10_000;

/** Resolves each path once and remembers the results, including problems, of the last few thousand paths. */
export function rememberImages(resolve: ResolveImage): ResolveImage {
  const answers = new Map<string, ReturnType<ResolveImage>>();
  return (path) => {
    const known = answers.get(path);
    if (known !== undefined) return known;
    const answer = resolve(path);
    if (answers.size >= imagesKept) answers.clear();
    answers.set(path, answer);
    return answer;
  };
}

/**
 * Resolves paths against the base URL of all pictures. `#`, `?` and blanks in a path are encoded, because its parts are file
 * names. A path that leads out of the base is a problem.
 */
export function basedImage(base: string): ResolveImage {
  const folder = base.endsWith('/') ? base : `${base}/`;
  return (path) => {
    const parts = path
      .replaceAll('\\', '/')
      .split('/')
      .filter((part) => part !== '.');
    if (/^([\\/]|[a-z]:)/i.test(path) || parts.includes('..') || parts.includes(''))
      return { problem: `is not a path below --images-base ${base}` };
    return folder + parts.map(encodeURIComponent).join('/');
  };
}

/** Why a URL cannot be the base of pictures; `undefined` if it can. */
export function imagesBaseProblem(base: string): string | undefined {
  const problem = checkHttpUrl(base);
  if (problem !== undefined) return problem;
  const { search, hash } = new URL(base);
  return search === '' && hash === ''
    ? undefined
    : 'has a query or a fragment, behind which no path can stand';
}
