import { isAbsolute, relative, sep } from 'node:path';

/** A path below or beside the output folder as a relative URL; `undefined` where no relative path leads there. */
export function relativeUrl(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  if (way === '' || isAbsolute(way)) return undefined;
  return way.split(sep).map(encodeURIComponent).join('/');
}
