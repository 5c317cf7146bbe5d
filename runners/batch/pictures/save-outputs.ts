import { imageUrlLifetimeMs } from '../../../src/contract/limits.js';
import { ArtifactError } from '../artifacts/artifact-error.js';
import { downloadArtifact, type DownloadSettings } from '../artifacts/download-artifact.js';
import { findWholeText, replaceAt, type FoundFile, type FoundPicture } from '../artifacts/find-picture.js';
import type { ValuePlace } from '../artifacts/output-path.js';
import { saveArtifact, type ArtifactFile, type ArtifactPlace } from '../artifacts/save-artifact.js';
import type { OutputFile, ReplyRecord, SavedImage } from '../journal/record.js';
import { expiryOf } from '../sinks/result-line.js';
import { leftFile, type WantedOutputs } from './wanted-outputs.js';

export interface SavingOutputs {
  readonly place: Omit<ArtifactPlace, 'file'>;
  /** Absent if outputs at URLs are left there. */
  readonly settings?: DownloadSettings;
  /** The picture in the reply itself was saved before, because the one at its URL could not be fetched. */
  readonly hasPreview?: boolean;
  /** Called with each file once it has its final name. */
  readonly keep: (file: ArtifactFile, saved: SavedImage | OutputFile) => Promise<void>;
}

/** The parts of a reply that change if its output contains a picture or a file as text. */
type ReplyOutputs = Pick<ReplyRecord, 'output' | 'image' | 'files'> & Partial<Pick<ReplyRecord, 'at'>>;

/** `left`: the run is stopping, and a later start continues. */
export type SavingEnd<R extends ReplyOutputs = ReplyRecord> = 'left' | Readonly<OutputsSaved<R>>;

/**
 * Saves the picture of a paid row and its files, one after the other. Saved ones are kept if another one fails.
 *
 * @throws {DiskFault}
 */
export async function saveOutputs<R extends ReplyOutputs>(
  paid: R,
  { image, picture, files }: WantedOutputs,
  saving: SavingOutputs,
): Promise<SavingEnd<R>> {
  const end = new OutputsSaved(paid, image);
  if (picture !== undefined && isSavable(picture, saving)) {
    const file = await saveOne(picture, saving).catch(asFailure);
    if (file === undefined) return 'left';
    if (!(file instanceof ArtifactError)) await saving.keep(file, end.addPicture(file, picture));
    else if (file.isNoPicture && picture.sure === false) end.noPicture = file;
    else if (!(await keepPreview(end, saving, { picture, failure: file }))) end.error = file;
  }
  for (const wanted of files) {
    const { field, nth, found } = wanted;
    if (found === undefined || !isSavable(found, saving)) {
      end.files.push(leftFile(wanted));
      continue;
    }
    const file = await saveOne(found, saving, nth).catch(asFailure);
    if (file === undefined) return 'left';
    if (!(file instanceof ArtifactError)) await saving.keep(file, end.addFile(file, found));
    else end.error ??= file.reworded(`${field}: ${file.message}`);
  }
  return end;
}

/** Where an artifact is: at a URL, or in the output itself. */
type Source = Pick<FoundFile, 'url' | 'bytes'> & { readonly at?: ValuePlace };

function isSavable({ url }: Source, { settings }: SavingOutputs): boolean {
  return url === undefined || settings !== undefined;
}

async function saveOne(
  { url, bytes }: Source,
  { place, settings }: SavingOutputs,
  nth?: number,
): Promise<ArtifactFile | undefined> {
  const at = nth === undefined ? place : { ...place, file: { nth, url } };
  if (bytes !== undefined) return saveArtifact((part) => part.write(bytes), at);
  return url === undefined || settings === undefined ? undefined : downloadArtifact(url, at, settings);
}

/**
 * Saves the picture that stands in the reply as text beside the URL of the row's picture, once that URL will not lead to it any
 * more: its host says so, or the URL has expired. It may be a preview, so that no failure that may pass is a reason.
 *
 * @returns whether there was one
 */
async function keepPreview<R extends ReplyOutputs>(
  end: OutputsSaved<R>,
  saving: SavingOutputs,
  { picture: { url }, failure }: { readonly picture: FoundPicture; readonly failure: ArtifactError },
): Promise<boolean> {
  const { httpStatus, mayPass } = failure;
  const isRefused = httpStatus !== undefined && httpStatus >= 400 && !mayPass;
  const hasExpired = saving.settings !== undefined && expiryMs(end.reply) <= saving.settings.scheduler.now();
  const isGone = (isRefused || hasExpired) && saving.hasPreview !== true;
  const text = isGone ? findWholeText(end.reply.output) : undefined;
  if (url === undefined || text === undefined) return false;
  const file = await saveOne(text, saving).catch(asFailure);
  if (file === undefined || file instanceof ArtifactError) return false;
  const problem = httpStatus === undefined ? 'its URL has expired' : `HTTP ${httpStatus}`;
  await saving.keep(file, end.addPicture(file, { ...text, url, problem }));
  return true;
}

function expiryMs({ at = Infinity }: ReplyOutputs): number {
  return at + imageUrlLifetimeMs;
}

function asFailure(error: unknown): ArtifactError {
  if (error instanceof ArtifactError) return error;
  throw error;
}

class OutputsSaved<R extends ReplyOutputs> {
  readonly files: OutputFile[] = [];
  /** Why one of them could not be saved; the others are saved. */
  error: ArtifactError | undefined;
  /** Set if a URL that may be a picture's leads to none. */
  noPicture: ArtifactError | undefined;

  constructor(
    /** Replaced if it contains a picture or a file as text. */
    public reply: R,
    public image: SavedImage | undefined,
  ) {}

  addPicture(file: ArtifactFile, source: Source & Pick<SavedImage, 'problem'>): SavedImage {
    const { url, problem } = source;
    const { at = 0 } = this.reply;
    this.image = {
      ...factsOf(file),
      ...(url !== undefined && { url, expiresAt: expiryOf({ at }) }),
      ...(problem !== undefined && { problem }),
    };
    if (this.replace(source, file)) this.reply = { ...this.reply, image: this.image };
    return this.image;
  }

  addFile(file: ArtifactFile, source: Source & { readonly field: string }): OutputFile {
    const { field, url } = source;
    const saved = { field, ...factsOf(file), ...(url !== undefined && { url }) };
    this.files.push(saved);
    if (this.replace(source, file))
      this.reply = { ...this.reply, files: [...(this.reply.files ?? []), saved] };
    return saved;
  }

  /** Puts the path in place of the text that contained the file. */
  private replace({ bytes, at }: Source, { path }: ArtifactFile): boolean {
    if (bytes === undefined || at === undefined) return false;
    this.reply = { ...this.reply, output: replaceAt(this.reply.output, at, path) };
    return true;
  }
}

function factsOf({ path, bytes, sha256 }: ArtifactFile): SavedImage {
  return { path, bytes, sha256 };
}
