import { checkHttpUrl } from '../../../src/contract/request-parts.js';
import type { ResolveImage } from './manifest-settings.js';

/**
 * Makes the URL of a picture from its path and the URL below which all of them lie. Each part of the path is a name:
 * `#`, `?` and blanks in it are encoded. A path that leads out of there is a problem.
 */
export function basedImage(base: string): ResolveImage {
  const folder = base.endsWith('/') ? base : `${base}/`;
  return (path) => {
    const parts = path
      .replaceAll('\\', '/')
      .split('/')
      .filter((part) => part !== '.');
    if (/^([\\/]|[a-z]:)/i.test(path) || parts.includes('..') || parts.includes(''))
      return { problem: `is no path below --images-base ${base}` };
    return folder + parts.map(encodeURIComponent).join('/');
  };
}

/** Why a URL is none that pictures can lie below; `undefined`: it is one. */
export function imagesBaseProblem(base: string): string | undefined {
  const problem = checkHttpUrl(base);
  if (problem !== undefined) return problem;
  const { search, hash } = new URL(base);
  return search === '' && hash === ''
    ? undefined
    : 'has a query or a fragment, behind which no path can stand';
}
