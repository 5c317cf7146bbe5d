import { lastOf, type Steps } from '../../../src/operators/flow.js';
import { findPicture, replaceAt, type FoundPicture } from '../artifacts/find-picture.js';
import { savePicture, type PictureFile } from '../artifacts/save-picture.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { DiskFault } from '../disk/disk-fault.js';
import type { SavedImage } from '../journal/record.js';
import { noteNoPicture, notePicture } from '../pictures/note-picture.js';
import type { RowFacts } from '../row/task.js';
import { noteDiskFault } from '../stop/exit-of.js';

/** The output of a completed job, with its picture taken out. */
export interface TakenPicture {
  readonly output: unknown;
  /** Where the picture lies. */
  readonly imageUrl?: string;
  readonly image?: SavedImage;
  readonly file?: PictureFile;
  /** The picture is in the output still: the disk failed, or another process saves it. */
  readonly isUnsaved?: true;
}

/** Saves a picture that is in the reply itself, before the reply is journalled: its text may be long. */
export function* takePicture(
  context: PurchaseContext,
  facts: RowFacts,
  output: unknown,
): Steps<never, TakenPicture> {
  const found = findPicture(output, facts.kind);
  if (found === undefined) {
    noteNoPicture(context, facts);
    return { output };
  }
  if ('url' in found) return { output, imageUrl: found.url };
  if (!context.pictures.areSaved) return { output, isUnsaved: true };
  return (yield* lastOf(saveEncoded(context, facts, output, found))) ?? { output, isUnsaved: true };
}

async function saveEncoded(
  context: PurchaseContext,
  facts: RowFacts,
  output: unknown,
  { bytes, at }: Extract<FoundPicture, { bytes: Buffer }>,
): Promise<TakenPicture> {
  const { disk, out } = context.options;
  const place = { disk, folder: out, id: facts.id, collides: context.pictures.names.collides(facts.id) };
  try {
    const file = await savePicture((write) => write(bytes), place);
    const image = { path: file.path, bytes: file.bytes, sha256: file.sha256 };
    notePicture(context, facts, file, image);
    return { output: replaceAt(output, at, file.path), image, file };
  } catch (error) {
    if (!(error instanceof DiskFault)) throw error;
    // The reply is paid for: it is journalled as it came, if it can be, and its picture is taken out of it later.
    noteDiskFault(context, error);
    return { output, isUnsaved: true };
  }
}
