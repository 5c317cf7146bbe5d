import { lastOf, type Steps } from '../../../src/operators/flow.js';
import type { ArtifactFile } from '../artifacts/save-artifact.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { DiskFault } from '../disk/disk-fault.js';
import type { OutputFile, SavedOutputs } from '../journal/record.js';
import { noteNoPicture, noteOutput, noteProblems } from '../pictures/note-picture.js';
import { saveOutputs } from '../pictures/save-outputs.js';
import { leftFile, wantedOutputs, type WantedOutputs } from '../pictures/wanted-outputs.js';
import type { RowFacts } from '../row/task.js';
import { noteDiskFault } from '../stop/exit-of.js';

/** The output of a completed job, with the pictures and files taken out that it holds as text. */
export interface TakenOutputs {
  readonly output: unknown;
  /** Where the picture lies. */
  readonly imageUrl?: string | undefined;
  /** What is saved already. */
  readonly saved: SavedOutputs;
  /** The files that were asked for, saved or not. */
  readonly files: readonly OutputFile[];
  /** Those that were saved just now. */
  readonly made: readonly ArtifactFile[];
  /** Something is in the output still: the disk failed, or another process saves it. */
  readonly isUnsaved?: true;
}

/** Saves the pictures and files that are in the reply itself, before the reply is journalled: their text may be long. */
export function* takeOutputs(
  context: PurchaseContext,
  facts: RowFacts,
  output: unknown,
): Steps<never, TakenOutputs> {
  const { paths, areSaved } = context.pictures;
  const wanted = wantedOutputs({ output }, { kind: facts.kind, paths });
  const { picture, files } = wanted;
  if (picture === undefined && files.length === 0) noteNoPicture(context, facts);
  const left = { output, imageUrl: picture?.url, saved: {}, files: files.map(leftFile), made: [] };
  noteProblems(context, facts, left.files);
  const isEncoded = [picture, ...files.map(({ found }) => found)].some((one) => one?.bytes !== undefined);
  if (!isEncoded) return left;
  if (!areSaved) return { ...left, isUnsaved: true };
  return (yield* lastOf(saveEncoded(context, facts, { wanted, left }))) ?? { ...left, isUnsaved: true };
}

async function saveEncoded(
  context: PurchaseContext,
  facts: RowFacts,
  { wanted, left }: { readonly wanted: WantedOutputs; readonly left: TakenOutputs },
): Promise<TakenOutputs> {
  const { disk, out } = context.options;
  const made: ArtifactFile[] = [];
  const place = { disk, folder: out, id: facts.id, collides: context.pictures.names.collides(facts.id) };
  const keep = (file: ArtifactFile, saved: OutputFile | NonNullable<SavedOutputs['image']>) => {
    made.push(file);
    noteOutput(context, facts, file, saved);
    return Promise.resolve();
  };
  try {
    const end = await saveOutputs({ output: left.output }, wanted, { place, keep });
    if (end === 'left') return { ...left, isUnsaved: true };
    const { output, ...saved } = end.reply;
    return { ...left, output, saved, files: end.files, made };
  } catch (error) {
    if (!(error instanceof DiskFault)) throw error;
    // The reply is paid for: it is journalled as it came, if it can be, and its picture is taken out of it later.
    noteDiskFault(context, error);
    return { ...left, isUnsaved: true };
  }
}
