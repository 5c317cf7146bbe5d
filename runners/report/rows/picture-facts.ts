import { isPlainObject } from '../../../src/contract/bounded-json.js';
import type { PagePicture, PageReference } from '../page-data.js';
import { type JsonObject } from '../read/json-object.js';

/** A saved picture, from the facts in a result and the address for the page. */
export function savedPicture(image: JsonObject, at: Pick<PagePicture, 'path' | 'thumb'>): PagePicture {
  return defined({
    ...at,
    bytes: typeof image['bytes'] === 'number' ? image['bytes'] : undefined,
    url: webUrl(image['url']),
    expiresAt: textOf(image['expiresAt']),
  });
}

export function leftAtItsUrl(image: JsonObject): PagePicture | undefined {
  const url = webUrl(image['url']);
  return url === undefined ? undefined : defined({ url, expiresAt: textOf(image['expiresAt']) });
}

/** The path of a result's picture in the run's folder; `undefined` if it has none there. */
export function savedPath(image: unknown): string | undefined {
  return isPlainObject(image) ? safeImagePath(image['path']) : undefined;
}

/** Only files in the folder: the content of results.jsonl is not trusted. */
export function safeImagePath(path: unknown): string | undefined {
  if (typeof path !== 'string' || path === '' || path.startsWith('/')) return undefined;
  return leadsOut.test(path) ? undefined : path;
}

/** A part that is `..` or empty, or a drive letter at the beginning. */
const leadsOut = /(?:^|[/\\])(?:\.\.)?(?:[/\\]|$)|^[a-z]:/i;

/** A path in the run's folder as an address for the page. */
export function pathAddress(path: string): string {
  return path.replace(halfCharacter, '\ufffd').split('/').map(encodeURIComponent).join('/');
}

/** Half of a surrogate pair, which cannot be encoded; names on the disk have U+FFFD instead. */
const halfCharacter = /[\ud800-\udfff]/gu;

const longestName = 120;

export function shownName(name: string): string {
  return name.length > longestName ? `${name.slice(0, longestName)}…` : name;
}

/** A reference that is not a file of this machine; `undefined` if it may be one. */
export function remoteReference(name: string): PageReference | undefined {
  const url = webUrl(name);
  if (url !== undefined) return { name: shownName(name), url };
  return /^[a-z][a-z+.-]+:/i.test(name) ? { name: shownName(name) } : undefined;
}

function webUrl(url: unknown): string | undefined {
  return typeof url === 'string' && /^https?:\/\//i.test(url) && canParse(url) ? url : undefined;
}

/** `URL.canParse` is newer than some browsers. */
function canParse(url: string): boolean {
  try {
    return new URL(url).href !== '';
  } catch {
    return false;
  }
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A copy without undefined values. */
export function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept: { [name: string]: unknown } = {};
  for (const [name, part] of Object.entries(value)) if (part !== undefined) kept[name] = part;
  return kept as { [K in keyof T]: Exclude<T[K], undefined> };
}
