import { isAbsolute, relative } from 'node:path';
import { plainText } from './plain-text.js';

/** A path as a person would write it here: relative where it lies below, else in full. */
export function shownPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  const shown = below.startsWith('..') || isAbsolute(below) ? path : below;
  return plainText(shown === '' ? '.' : shown);
}
