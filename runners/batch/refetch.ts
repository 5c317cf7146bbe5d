import { NEVER, Observable } from 'rxjs';
import { filesFolder, openFilesFolder, openImagesFolder } from './artifacts/artifact-name.js';
import { findPicture } from './artifacts/find-picture.js';
import { outputPaths, type OutputPath } from './artifacts/output-path.js';
import type { ArtifactFile } from './artifacts/save-artifact.js';
import { writeThumbnail } from './artifacts/write-thumbnail.js';
import { appendAll, type RowRecords, type Journal } from './journal/journal.js';
import type { IntentRecord, OutputFile, ReplyRecord, SavedImage, SavedOutputs } from './journal/record.js';
import { lateGotDownload } from '../../src/transport/got/late-got.js';
import type { Download } from '../../src/transport/got/download.js';
import { exitOf } from './stop/exit-of.js';
import type { RunBatchOptions } from './context/run-options.js';
import { withFolder, type FolderOptions, type OpenFolder } from './start/open-folder.js';
import { previewText } from './end/end-row.js';
import { PictureNames } from './pictures/picture-names.js';
import { saveOutputs } from './pictures/save-outputs.js';
import { wantedOutputs } from './pictures/wanted-outputs.js';
import { completedRecord, isBookedPurchase, purchaseOfReply, savedOutputs } from './row/records-of.js';
import { type RunEvent, RunStream } from './context/run-event.js';
import type { Disk } from './disk/disk.js';
import type { Projections } from './sinks/projections.js';

export interface RefetchOptions
  extends
    FolderOptions,
    Pick<RunBatchOptions, 'downloads' | 'retries' | 'saveFrom' | 'random' | 'makeThumbnail'> {
  /** When it emits, the remaining pictures are left for later. */
  readonly stop?: Observable<unknown> | undefined;
}

/**
 * Downloads the pictures and files of a run that are paid for and missing: not saved yet, left at their URLs, or gone
 * from the folder. Buys nothing. Emits `saved` and `ended` for each, a warning for each that cannot be downloaded, and
 * `finished` last: 0 if none is missing any more, 1 otherwise.
 */
export function refetch(out: string, options: RefetchOptions = {}): RunStream {
  const events = new Observable<RunEvent>((subscriber) => {
    const report = (event: RunEvent): void => subscriber.next(event);
    void fetchAll(out, options, report)
      .catch((error: unknown): RunEvent => ({ type: 'finished', ...exitOf(error) }))
      .then((finished) => {
        report(finished);
        subscriber.complete();
      });
  });
  return new RunStream(events, () => undefined);
}

async function fetchAll(
  out: string,
  options: RefetchOptions,
  report: (event: RunEvent) => void,
): Promise<RunEvent> {
  const count = { saved: 0, files: 0, missing: 0 };
  const { summary } = await withFolder(out, options, async (folder) => {
    const fetcher = await Fetcher.open(folder, options, report, count);
    await fetcher.fetchAll();
  });
  const files = count.files === 0 ? '' : ` and ${count.files} ${count.files === 1 ? 'file' : 'files'}`;
  const saved = `${count.saved} ${count.saved === 1 ? 'picture' : 'pictures'}${files} saved`;
  const reason =
    count.missing > 0
      ? `${saved}, ${count.missing} could not be downloaded: their URLs are valid for 7 days, see the warnings.`
      : `${saved}, none is missing.`;
  return { type: 'finished', exitCode: count.missing > 0 ? 1 : 0, reason, ...(summary && { summary }) };
}

interface Count {
  saved: number;
  files: number;
  missing: number;
}

class Fetcher {
  private constructor(
    private readonly folder: OpenFolder,
    private readonly options: RefetchOptions,
    private readonly report: (event: RunEvent) => void,
    private readonly count: Count,
    private readonly names: PictureNames,
    private readonly download: Download,
    private readonly paths: readonly OutputPath[],
  ) {}

  static async open(
    folder: OpenFolder,
    options: RefetchOptions,
    report: (event: RunEvent) => void,
    count: Count,
  ): Promise<Fetcher> {
    await openImagesFolder(folder.disk, folder.out);
    const names = new PictureNames();
    for await (const id of folder.projections.files.ids()) names.see(id);
    const { identity, saveOutput } = folder.journal.journal.recovered;
    if (saveOutput.length > 0) await openFilesFolder(folder.disk, folder.out, filesFolder);
    const { baseUrl = '', lbBaseUrl = '' } = identity ?? {};
    const download = options.saveFrom ?? lateGotDownload({ services: [baseUrl, lbBaseUrl] });
    return new Fetcher(folder, options, report, count, names, download, outputPaths(saveOutput));
  }

  async fetchAll(): Promise<void> {
    const { disk, out, journal, projections } = this.folder;
    const missing = missingPictures({ disk, out, journal: journal.journal, projections });
    let isLeft = false;
    const listening = this.options.stop?.subscribe(() => (isLeft = true));
    // Each worker takes the next row when it is free.
    const worker = async (): Promise<void> => {
      for (let next = await missing.next(); next.done !== true && !isLeft; next = await missing.next())
        await this.fetch(next.value);
    };
    try {
      await Promise.all(Array.from({ length: this.options.downloads ?? 4 }, worker));
    } finally {
      listening?.unsubscribe();
      await missing.return();
    }
  }

  private async fetch(row: RowRecords): Promise<void> {
    const { id, intent } = row;
    if (intent === undefined || row.reply === undefined) return;
    const { request } = intent;
    const reply = await this.withoutGone(row.reply, request);
    const { disk, out, scheduler } = this.folder;
    const { random = Math.random, retries = 4, stop = NEVER } = this.options;
    const saved = await this.stillThere(isBookedPurchase(row) ? row.outcome : undefined);
    const wanted = wantedOutputs(reply, { request, paths: this.paths, saved });
    const end = await saveOutputs(reply, wanted, {
      place: { disk, folder: out, id, collides: this.names.collides(id) },
      settings: { download: this.download, scheduler, random, maxRetries: retries, left$: stop },
      keep: (file, kept) => this.keep(id, file, kept),
      hasPreview: row.reply.image?.problem !== undefined,
    });
    if (end === 'left') return;
    const why = (end.error ?? end.noPicture)?.message ?? (await this.whyGone(end));
    const isPreview = why === undefined && end.image?.problem !== undefined;
    if (why === undefined) await this.complete(row, intent, end);
    if (why === undefined && !isPreview) return;
    this.count.missing++;
    const what = end.image !== undefined && isPreview ? previewText(id, end.image) : `"${id}": ${why}`;
    this.report({ type: 'warning', code: 'picture', message: `Row ${what}` });
  }

  /** The outputs that were saved according to the outcome and are still in the folder. A picture that was saved instead of another is left out. */
  private async stillThere({ image, files = [] }: SavedOutputs = {}): Promise<SavedOutputs> {
    const there: OutputFile[] = [];
    for (const file of files) if (await this.isThere(file.path)) there.push(file);
    const isWanted = image !== undefined && image.problem === undefined && (await this.isThere(image.path));
    return { ...(isWanted && { image }), files: there };
  }

  /**
   * The reply without a picture that came in it as text, where its output has a URL as well: it is gone from the folder, or was
   * saved because that URL led to none.
   */
  private async withoutGone(reply: ReplyRecord, request: IntentRecord['request']): Promise<ReplyRecord> {
    const { image, ...rest } = reply;
    if (image === undefined || (image.problem === undefined && (await this.isThere(image.path))))
      return reply;
    return findPicture(rest.output, request)?.url === undefined ? reply : rest;
  }

  /** An output that was text of the reply is only in the folder: its path has replaced it in the journal. */
  private async whyGone({ image, files = [] }: SavedOutputs): Promise<string | undefined> {
    for (const { path } of [...(image === undefined ? [] : [image]), ...files])
      if (path !== undefined && !(await this.isThere(path)))
        return `${path} came in the reply itself and is gone from the folder: it cannot be downloaded`;
    return undefined;
  }

  private async isThere(path: string | undefined): Promise<boolean> {
    const { disk, out } = this.folder;
    return path !== undefined && (await disk.stat(`${out}/${path}`))?.kind === 'file';
  }

  private async keep(id: string, file: ArtifactFile, kept: SavedImage | OutputFile): Promise<void> {
    const { disk, out } = this.folder;
    await writeThumbnail(disk, out, file, this.options.makeThumbnail);
    if ('field' in kept) this.count.files++;
    else this.count.saved++;
    const { path, bytes, sha256 } = file;
    this.report({ type: 'saved', id, image: { ...kept, path, bytes, sha256 } });
  }

  private async complete(
    row: RowRecords,
    intent: IntentRecord,
    saved: SavedOutputs & { readonly reply: ReplyRecord },
  ): Promise<void> {
    const { scheduler, journal } = this.folder;
    const { id } = row;
    const { reply } = saved;
    const at = scheduler.now();
    const outcome = completedRecord(reply, {
      at,
      ...savedOutputs(saved),
      ...purchaseOfReply(intent, reply, { attempt: row.attempts, isBooked: isBookedPurchase(row) }),
    });
    const reopen = { k: 'reopen', at, id, why: 'refetch', to: 'download' } as const;
    await appendAll(journal, [reopen, ...(reply === row.reply ? [] : [reply]), outcome]);
    this.report({ type: 'ended', id, row: intent.row, status: 'completed', cost: reply.cost });
  }
}

interface Place {
  readonly disk: Disk;
  readonly out: string;
  readonly journal: Pick<Journal, 'rowsIn' | 'find'>;
  readonly projections: Pick<Projections, 'files'>;
}

/** Paid rows whose picture, or a file, is not in the folder although its URL is known; in constant memory. */
export async function* missingPictures({
  disk,
  out,
  journal,
  projections,
}: Place): AsyncGenerator<RowRecords, void, void> {
  yield* journal.rowsIn(['download', 'replied']);
  for await (const { id, paths } of projections.files.pictures()) {
    let isMissing = false;
    for (const path of paths)
      isMissing ||= path === undefined || (await disk.stat(`${out}/${path}`))?.kind !== 'file';
    const row = isMissing ? await journal.find(id) : undefined;
    // Of a row that is bought again, the journal finds the later purchase.
    if (row?.reply !== undefined && row.status === 'completed') yield row;
  }
}
