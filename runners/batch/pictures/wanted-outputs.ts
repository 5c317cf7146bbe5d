import {
  addressIn,
  findFiles,
  findPicture,
  type FoundFile,
  type FoundPicture,
} from '../artifacts/find-picture.js';
import type { OutputPath, ValuePlace } from '../artifacts/output-path.js';
import type { OutputFile, ReplyRecord, SavedImage, SavedOutputs } from '../journal/record.js';
import type { RowFacts } from '../row/task.js';

export interface WantedOutputs {
  readonly image?: SavedImage | undefined;
  /** The row's picture, if it is not saved. */
  readonly picture?: FoundPicture | undefined;
  /** In the order in which they were asked for. */
  readonly files: readonly WantedFile[];
}

interface WantedFile {
  readonly field: string;
  /** Its number among the files of the row, counted from 1. */
  readonly nth: number;
  readonly found?: FoundFile;
  /** Present if it is saved, or the field has none. */
  readonly known?: OutputFile;
}

/** A file as it is recorded before it is saved, or without being saved. */
export function leftFile({ field, found, known }: WantedFile): OutputFile {
  return known ?? { field, ...(found?.url !== undefined && { url: found.url }) };
}

/**
 * Finds the picture of an output and the files at `paths`. The row's picture is not listed as a file as well; but a URL that
 * may not be a picture's is treated as a file if it was asked for.
 *
 * @param saved outputs that an earlier start saved, in addition to those in the reply
 */
export function wantedOutputs(
  reply: Pick<ReplyRecord, 'output' | 'imageUrl' | 'image' | 'files'>,
  {
    request,
    paths,
    saved = {},
  }: { request: RowFacts['request']; paths: readonly OutputPath[]; saved?: SavedOutputs | undefined },
): WantedOutputs {
  const image = reply.image ?? saved.image;
  const picture = image === undefined ? pictureOf(reply, request) : undefined;
  if (paths.length === 0) return { image, picture, files: [] };
  const known = new Map([...(saved.files ?? []), ...(reply.files ?? [])].map((file) => [file.field, file]));
  const pictureUrl = image?.url ?? (picture?.sure === true ? picture.url : undefined);
  const isPicture = (value: unknown, at: ValuePlace): boolean =>
    (pictureUrl !== undefined && addressIn(value) === pictureUrl) ||
    (image !== undefined && value === image.path) ||
    (picture?.bytes !== undefined && String(at) === String(picture.at));
  const files = findFiles(reply.output, paths, isPicture).map((one, index): WantedFile => {
    const { field } = one;
    const earlier = known.get(field);
    if (earlier?.path !== undefined) return { field, nth: index + 1, known: earlier };
    return { field, nth: index + 1, ...('problem' in one ? { known: one } : { found: one }) };
  });
  const isNamed = picture?.sure === false && files.some(({ found }) => found?.url === picture.url);
  return isNamed ? { files } : { image, picture, files };
}

function pictureOf(
  { output, imageUrl }: Pick<ReplyRecord, 'output' | 'imageUrl'>,
  request: RowFacts['request'],
): FoundPicture | undefined {
  const found = findPicture(output, request);
  if (imageUrl === undefined) return found;
  return found?.url === imageUrl ? found : { url: imageUrl, sure: true };
}
