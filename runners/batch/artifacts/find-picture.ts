import type { RowKind } from '../manifest/manifest-row.js';
import { checkHttpUrl } from '../../../src/contract/request-parts.js';
import { artifactFormat, headBytes } from './artifact-format.js';
import { PictureEnd } from './picture-end.js';
import { pathOf, valuesAt, type OutputPath, type ValuePlace } from './output-path.js';

export type FoundPicture =
  | {
      readonly url: string;
      /** False if the URL need not be a picture's: under `result`, only an edit must have one. */
      readonly sure: boolean;
      readonly bytes?: undefined;
    }
  | {
      readonly bytes: Buffer;
      /** Keys and indexes from the output down to the text that contains the picture. */
      readonly at: ValuePlace;
      readonly url?: undefined;
      readonly sure?: undefined;
    };

/** Deeper or wider outputs are not searched completely, so that the search stays cheap for any output. */
const deepest = 12;
const mostValues = 10_000;
/** The shortest PNG has 67 bytes; texts shorter than this are skipped. */
const shortestText = 64;

/**
 * The picture of a completed row, found by content: a text that decodes to PNG or JPEG (a data URI or bare base64),
 * under any key and at any depth, else a URL under `image_url` or `result`. The URL under `image_url` comes first for an edit
 * that did not ask for a text: a text beside it may be a preview. (spec 2.6)
 */
export function findPicture(
  output: unknown,
  { kind, input }: { readonly kind: RowKind; readonly input?: { readonly enable_base64_output?: unknown } },
): FoundPicture | undefined {
  const isObject = typeof output === 'object' && output !== null;
  const { image_url, result } = (isObject ? output : {}) as Record<string, unknown>;
  const url = addressIn(image_url);
  const named = url === undefined ? undefined : { url, sure: true };
  if (kind === 'edit' && input?.enable_base64_output !== true && named !== undefined) return named;
  return findEncoded(output) ?? named ?? pictureAt(result, kind);
}

/** The first whole picture that an output contains as text, whatever URL it has beside it. */
export function findWholeText(output: unknown): (FoundPicture & { readonly bytes: Buffer }) | undefined {
  return findEncoded(output, (bytes) => {
    const end = new PictureEnd();
    end.add(bytes);
    return !end.isMissing;
  });
}

/** A file that the user asked for. */
export interface FoundFile {
  /** Its path in the output, such as `output.images[1].url`. */
  readonly field: string;
  readonly at: ValuePlace;
  /** Exactly one of the two is set. */
  readonly url?: string;
  readonly bytes?: Buffer;
}

export interface FileProblem {
  readonly field: string;
  readonly problem: string;
}

/** A row has at most this many files; further ones are reported as a problem. */
const mostFiles = 1_000;

/**
 * The files at these paths of an output: a URL, or a text that decodes to a file of a known format.
 *
 * @param isPicture whether a value is the row's picture, which is skipped
 */
export function findFiles(
  output: unknown,
  paths: readonly OutputPath[],
  isPicture: (value: unknown, at: ValuePlace) => boolean = () => false,
): readonly (FoundFile | FileProblem)[] {
  const found = new Map<string, FoundFile | FileProblem>();
  for (const path of paths) {
    const values = valuesAt(output, path);
    if (values.length === 0) found.set(path.text, { field: path.text, problem: 'is an empty list' });
    for (const { at, value } of values.slice(0, mostFiles)) {
      if (isPicture(value, at)) continue;
      const field = pathOf(at);
      found.set(field, { field, ...fileIn(value, at) });
    }
    if (values.length > mostFiles)
      found.set(path.text, {
        field: path.text,
        problem: `has ${values.length} files: ${mostFiles} are saved`,
      });
  }
  return [...found.values()];
}

function fileIn(
  value: unknown,
  at: ValuePlace,
): { at: ValuePlace; url?: string; bytes?: Buffer } | { problem: string } {
  const url = addressIn(value);
  if (url !== undefined) return { at, url };
  const bytes = typeof value === 'string' ? decodeFile(value) : undefined;
  if (bytes !== undefined) return { at, bytes };
  if (value === undefined) return { problem: 'is not in the output' };
  if (typeof value !== 'object' || value === null)
    return { problem: 'is not an http or https address, and no base64 text of a file of a known format' };
  const inner = Object.entries(value).find(([, one]) => addressIn(one) !== undefined)?.[0];
  const guess = inner === undefined ? '' : `: did you mean ${pathOf([...at, inner])}?`;
  return { problem: `is ${Array.isArray(value) ? 'a list' : 'an object'}, and no address${guess}` };
}

/** The output with the value at this place replaced by a text. The original is not changed. */
export function replaceAt(output: unknown, at: ValuePlace, text: string): unknown {
  const [key, ...rest] = at;
  if (key === undefined) return text;
  const copy: unknown = Array.isArray(output) ? [...(output as unknown[])] : { ...(output as object) };
  const fields = copy as Record<string | number, unknown>;
  fields[key] = replaceAt(fields[key], rest, text);
  return copy;
}

function pictureAt(result: unknown, kind: RowKind): FoundPicture | undefined {
  const url = addressIn(result);
  // A job's result may be a text that begins with an address.
  if (url === undefined || (kind !== 'edit' && url !== result)) return undefined;
  return { url, sure: kind === 'edit' };
}

/** The http or https URL that a value is, with its blanks encoded: a service may name a file as its user did. */
export function addressIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const url = value.trim().replaceAll(' ', '%20');
  return checkHttpUrl(url) === undefined ? url : undefined;
}

/** Breadth first, so that the outermost picture is found. */
function findEncoded(
  output: unknown,
  isWanted: (bytes: Buffer) => boolean = () => true,
): (FoundPicture & { readonly bytes: Buffer }) | undefined {
  const waiting: { value: unknown; at: (string | number)[] }[] = [{ value: output, at: [] }];
  for (let seen = 0; seen < waiting.length && seen < mostValues; seen++) {
    const { value, at } = waiting[seen] ?? { value: undefined, at: [] };
    if (typeof value === 'string') {
      const bytes = decodeFile(value, ['png', 'jpeg']);
      if (bytes !== undefined && isWanted(bytes)) return { bytes, at };
    } else if (typeof value === 'object' && value !== null && at.length < deepest) {
      const entries: [string | number, unknown][] = Array.isArray(value)
        ? [...value.entries()]
        : Object.entries(value);
      for (const [key, inner] of entries.slice(0, mostValues))
        waiting.push({ value: inner, at: [...at, key] });
    }
  }
  return undefined;
}

/** Decodes only the beginning first: nearly all texts are no files. */
function decodeFile(text: string, formats?: readonly string[]): Buffer | undefined {
  if (text.length < shortestText) return undefined;
  const prefix = /^data:[^,]{0,200};base64,/i.exec(text)?.[0].length ?? 0;
  const format = artifactFormat(Buffer.from(text.slice(prefix, prefix + headBytes * 2), 'base64'));
  if (format === undefined || formats?.includes(format) === false) return undefined;
  const body = text.slice(prefix);
  return isBase64(body) ? Buffer.from(body, 'base64') : undefined;
}

/** Line breaks and the base64 alphabet for URLs are allowed. */
function isBase64(text: string): boolean {
  const end = text.search(/[^\w+/\-\s]/);
  return end === -1 || (text.length - end < 16 && /^={1,2}\s*$/.test(text.slice(end)));
}
