import { imageEditDefaults } from '../../../src/contract/image-edit.js';
import { RecentJobs } from '../../../src/policy/job-ids.js';
import type { ArtifactFile } from '../artifacts/save-artifact.js';
import { writeThumbnail } from '../artifacts/write-thumbnail.js';
import type { OutputFile, SavedImage } from '../journal/record.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import type { RowFacts } from '../row/task.js';

/** Remembers the picture URLs of at least this many edits. */
const mostAddresses = 10_000;

/** The initial state of the warnings that a start gives only once. */
export function nothingNoted(): Pick<
  PurchaseContext['pictures'],
  'warned' | 'pictureless' | 'previews' | 'addresses'
> {
  const addresses = Object.assign(new RecentJobs(mostAddresses), { shared: 0 });
  return { warned: new Set(), pictureless: { edits: 0 }, previews: { edits: 0 }, addresses };
}

/** Makes the thumbnail of a saved picture, and reports the saved file. */
export async function keepOutput(
  context: PurchaseContext,
  row: RowFacts,
  file: ArtifactFile,
  saved: SavedImage | OutputFile,
): Promise<void> {
  const { disk, out, makeThumbnail } = context.options;
  await writeThumbnail(disk, out, file, makeThumbnail);
  noteOutput(context, row, file, saved);
}

/**
 * Reports a saved picture or file, and warns once for each format of a picture that differs from the one that was asked for,
 * and once of a picture without its end.
 */
export function noteOutput(
  context: PurchaseContext,
  row: RowFacts,
  { format, path, bytes, sha256, isCut }: ArtifactFile,
  saved: SavedImage | OutputFile,
): void {
  const asked = 'field' in saved ? undefined : askedFormat(row);
  const { id } = row;
  if (asked !== undefined && asked !== format) {
    const message = `Row "${id}" asked for ${asked}, and the picture is ${format}: it is saved in that format. Others like it are not reported.`;
    warnOnce(context, `${asked} ${format}`, { code: 'format', message });
  }
  if (isCut === true) {
    const message = `Row "${id}" has a picture that is cut short in its reply: the end is not among its ${bytes} bytes. It is saved as it came. Others like it are not reported.`;
    warnOnce(context, 'cut', { code: 'picture', message });
  }
  context.events.next({ type: 'saved', id, image: { ...saved, path, bytes, sha256 } });
}

function askedFormat({ request }: RowFacts): string | undefined {
  return request.kind === 'edit'
    ? (request.input.output_format ?? imageEditDefaults.output_format)
    : undefined;
}

function warnOnce(
  { pictures, events }: PurchaseContext,
  about: string,
  warning: { readonly code: 'format' | 'picture'; readonly message: string },
): void {
  if (pictures.warned.has(about)) return;
  pictures.warned.add(about);
  events.next({ type: 'warning', ...warning });
}

/** Warns once per start about a paid edit that completed without a picture in its reply. */
export function noteNoPicture({ pictures, events }: PurchaseContext, { id, request }: RowFacts): void {
  if (request.kind !== 'edit') return;
  if (pictures.pictureless.edits++ > 0) return;
  const message = `Row "${id}" completed, but its reply has no picture: it is kept as "output" in results.jsonl. Others like it are counted at the end.`;
  events.next({ type: 'warning', code: 'picture', message });
}

/**
 * Warns once per start about an edit that was answered with the picture URL of another row: the service may have mixed
 * them up.
 */
export function noteAddress(
  { pictures: { addresses }, events }: PurchaseContext,
  { id: key, endpoint, request }: RowFacts,
  url: string,
): void {
  if (request.kind !== 'edit') return;
  const answered = { endpoint, jobId: url, key };
  const owner = addresses.ownerOf(answered);
  if (owner === undefined) return addresses.keep(answered);
  if (owner === key || addresses.shared++ > 0) return;
  const message = `Row "${key}" was answered with the address of the picture of row "${owner}": one of them has the other's picture, or both were paid for one. Look at both before more is sent. Others like it are counted at the end.`;
  events.next({ type: 'warning', code: 'picture', message });
}

/** Warns about a URL under `result` that does not lead to a picture. This may be correct: only the function knows what it is. */
export function noteUnsure({ events }: PurchaseContext, { id }: RowFacts, why: string): void {
  const message = `Row "${id}" has a URL under "result" that leads to no picture (${why}): it is left there.`;
  events.next({ type: 'warning', code: 'picture', message });
}

/** Warns once per start and field about a row that has no file where one was asked for; the row completed all the same. */
export function noteProblems(context: PurchaseContext, { id }: RowFacts, files: readonly OutputFile[]): void {
  for (const { field, problem } of files) {
    if (problem === undefined) continue;
    const message = `Row "${id}" completed, and has no file to save: ${field} ${problem}. Others like it are not reported; see "files" in results.jsonl.`;
    warnOnce(context, `field ${field.replace(/\[\d+\]/g, '[]')}`, { code: 'picture', message });
  }
}
