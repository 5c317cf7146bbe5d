import { lastValueFrom, merge, NEVER, Observable } from 'rxjs';
import { downloadPicture } from './artifacts/download-picture.js';
import { openImagesFolder } from './artifacts/picture-name.js';
import { PictureError } from './artifacts/save-picture.js';
import { writeThumbnail, type MakeThumbnail } from './artifacts/write-thumbnail.js';
import type { RowRecords, Journal } from './journal/journal.js';
import type { IntentRecord, ReplyRecord } from './journal/record.js';
import { createGotDownload } from '../../src/transport/got/got-download.js';
import type { Download } from '../../src/transport/got/download.js';
import { exitOf } from './stop/exit-of.js';
import { withFolder, type FolderOptions, type OpenFolder } from './start/open-folder.js';
import { PictureNames } from './pictures/picture-names.js';
import { completedRecord, purchaseOfReply, isBookedPurchase } from './row/records-of.js';
import type { RunEvent } from './context/run-event.js';
import { RunStream } from './context/run-stream.js';
import { expiryOf } from './sinks/result-line.js';
import type { Disk } from './disk/disk.js';
import type { Projections } from './sinks/projections.js';

export interface RefetchOptions extends FolderOptions {
  /** Pictures at a time. @defaultValue 4 */
  readonly downloads?: number;
  /** Extra tries. @defaultValue 4 */
  readonly retries?: number;
  /** @defaultValue one over got, without a key */
  readonly saveFrom?: Download;
  /** From 0 to 1, for jitter. @defaultValue Math.random */
  readonly random?: () => number;
  /** @defaultValue by sharp, where it is installed */
  readonly makeThumbnail?: MakeThumbnail;
  /** Emits when what is left is left for later. */
  readonly stop?: Observable<unknown>;
}

/**
 * Downloads the pictures of a run that are paid for and missing: not saved yet, left at their URLs, or gone from the
 * folder. Buys nothing. Emits `saved` and `ended` for each, a warning for each that cannot be had, and `finished` last:
 * 0 when none is missing any more, 1 otherwise.
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
  const count = { saved: 0, missing: 0 };
  const { summary } = await withFolder(out, options, async (folder) => {
    const fetcher = await Fetcher.open(folder, options, report, count);
    await fetcher.fetchAll();
  });
  const saved = `${count.saved} ${count.saved === 1 ? 'picture' : 'pictures'} saved`;
  const reason =
    count.missing > 0
      ? `${saved}, ${count.missing} could not be had: their URLs live 7 days, see the warnings.`
      : `${saved}, none is missing.`;
  return { type: 'finished', exitCode: count.missing > 0 ? 1 : 0, reason, ...(summary && { summary }) };
}

class Fetcher {
  private constructor(
    private readonly folder: OpenFolder,
    private readonly options: RefetchOptions,
    private readonly report: (event: RunEvent) => void,
    private readonly count: { saved: number; missing: number },
    private readonly names: PictureNames,
    private readonly download: Download,
  ) {}

  static async open(
    folder: OpenFolder,
    options: RefetchOptions,
    report: (event: RunEvent) => void,
    count: { saved: number; missing: number },
  ): Promise<Fetcher> {
    await openImagesFolder(folder.disk, folder.out);
    const names = new PictureNames();
    for await (const id of folder.projections.ids()) names.see(id);
    const { baseUrl = '', lbBaseUrl = '' } = folder.journal.journal.recovered.identity ?? {};
    const download = options.saveFrom ?? createGotDownload({ services: [baseUrl, lbBaseUrl] });
    return new Fetcher(folder, options, report, count, names, download);
  }

  async fetchAll(): Promise<void> {
    const { disk, out, journal, projections } = this.folder;
    const missing = missingPictures({ disk, out, journal: journal.journal, projections });
    let isLeft = false;
    const listening = this.options.stop?.subscribe(() => (isLeft = true));
    // Each takes the next row when it is free.
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
    const { intent, reply } = row;
    if (intent === undefined || reply?.imageUrl === undefined) return;
    try {
      await this.save(row, intent, reply, reply.imageUrl);
      this.count.saved++;
    } catch (error) {
      if (!(error instanceof PictureError)) throw error;
      this.count.missing++;
      this.report({ type: 'warning', code: 'picture', message: `Row "${row.id}": ${error.message}` });
    }
  }

  private async save(row: RowRecords, intent: IntentRecord, reply: ReplyRecord, url: string): Promise<void> {
    const { disk, out, scheduler, journal } = this.folder;
    const { random = Math.random, retries = 4, stop = NEVER } = this.options;
    const { id } = row;
    const place = { disk, folder: out, id, collides: this.names.collides(id) };
    const settings = { download: this.download, scheduler, random, maxRetries: retries, left$: stop };
    const file = await downloadPicture(url, place, settings);
    if (file === undefined) return;
    await writeThumbnail(disk, out, file, this.options.makeThumbnail);
    const { path, bytes, sha256 } = file;
    const image = { path, bytes, sha256, url, expiresAt: expiryOf(reply) };
    const at = scheduler.now();
    const isBooked = isBookedPurchase(row);
    const outcome = completedRecord(reply, {
      at,
      image,
      ...purchaseOfReply(intent, reply, { attempt: row.attempts, isBooked }),
    });
    if (row.status === 'replied') this.folder.toDo--;
    const reopen = { k: 'reopen', at, id, why: 'refetch', to: 'download' } as const;
    await lastValueFrom(merge(journal.append(reopen), journal.append(outcome)));
    this.report({ type: 'saved', id, image });
    this.report({ type: 'ended', id, row: intent.row, status: 'completed', cost: reply.cost });
  }
}

interface Place {
  readonly disk: Disk;
  readonly out: string;
  readonly journal: Pick<Journal, 'rowsIn' | 'find'>;
  readonly projections: Pick<Projections, 'pictures'>;
}

/** Rows that are paid for and whose picture is not in the folder, though its URL is known. In flat memory. */
export async function* missingPictures({
  disk,
  out,
  journal,
  projections,
}: Place): AsyncGenerator<RowRecords, void, void> {
  yield* journal.rowsIn(['download', 'replied']);
  for await (const { id, path } of projections.pictures()) {
    if (path !== undefined && (await disk.stat(`${out}/${path}`))?.kind === 'file') continue;
    const row = await journal.find(id);
    if (row?.reply?.imageUrl !== undefined) yield row;
  }
}
