import type { Disk } from '../disk/disk.js';
import type { Journal } from '../journal/journal.js';
import { catchUp } from './catch-up.js';
import { costValueColumns } from './cost-line.js';
import type { EndedRow } from './line-text.js';
import { closedOnError, holdsExtent } from './line-file.js';
import { LineBatch } from './line-batch.js';
import type { FilesCovered } from './spreadsheet.js';
import { RunFiles, type PictureLine, type SheetColumns } from './run-files.js';

export interface ProjectionsOptions {
  readonly disk: Disk;
  /** The output folder. */
  readonly folder: string;
  readonly journal: Journal;
  /** What the last start covered; without it the files are compared with the whole journal. */
  readonly covered?: FilesCovered | undefined;
  /** Also writes results.csv and failures.csv, with these columns. */
  readonly sheets?: SheetColumns | undefined;
}

/**
 * results.jsonl, failures.jsonl, costs.csv and their like: all that follows from the journal and can be written anew
 * from it alone. The first error of the disk is the answer to every later call.
 */
export class Projections {
  private waiting: LineBatch;
  private running: Promise<void> | undefined;
  /** While this runs, no line is appended. */
  private checking: Promise<unknown> | undefined;
  private failure: { readonly error: unknown } | undefined;

  private constructor(
    private readonly journal: Journal,
    private readonly files: RunFiles,
    private records: number,
  ) {
    this.waiting = new LineBatch(files.valueColumns);
  }

  /** Opens the files and brings them up to the journal, which `refuseLostJournal` has held them against before. */
  static async open(options: ProjectionsOptions): Promise<Projections> {
    const { disk, folder, journal } = options;
    const covered = await trusted(options);
    const sheets = options.sheets ?? (await sheetsThere(options));
    const valueColumns = costValueColumns(journal.recovered.tally.columns);
    const files = await RunFiles.open(disk, folder, covered?.files ?? {}, { sheets, valueColumns });
    const projections = new Projections(journal, files, covered?.records ?? 0);
    const isNewSheet = covered !== undefined && sheets !== undefined && !hasSheets(covered);
    await closedOnError(projections, () => projections.catchUp(isNewSheet));
    return projections;
  }

  /** Brings the files up to what was appended to the journal past `write`: rows taken up again leave them. */
  async catchUp(forceSheets = false): Promise<void> {
    const { records, removed } = await catchUp(this.files, this.journal, this.records);
    this.records = records;
    await this.files.settle(removed || forceSheets);
  }

  /**
   * Writes the lines of a row that has ended. Resolves when they are in the files.
   *
   * @param record Number of its outcome in the journal; rows come in this order.
   * @param isCurrent False for a row that is bought again at once: only its purchase gets a line.
   */
  async write(row: EndedRow, record: number, isCurrent = true): Promise<void> {
    this.waiting.add(row, isCurrent);
    this.waiting.record = record;
    while (this.checking !== undefined) await this.checking;
    // Lines that arrive during an append go with the next one.
    this.running ??= Promise.resolve().then(() => this.drain());
    await this.running;
    this.refuse();
  }

  /** Makes durable what was written, under the names of the files. Resolves to how far that is. */
  async sync(): Promise<FilesCovered> {
    const covered = await this.whileIdle(() => this.covered());
    await this.files.sync();
    await this.whileIdle(() => this.files.keepNames());
    return covered;
  }

  /** How far all the files go. In the middle of an append some of them are ahead of the others, and of `records`. */
  private covered(): Promise<FilesCovered> {
    const { repairs, tally } = this.journal.recovered;
    const costBy = tally.columns;
    return Promise.resolve({
      records: this.records,
      ...(repairs > 0 && { repairs }),
      ...(costBy.length > 0 && { costBy }),
      files: this.files.extents(),
    });
  }

  /** Works while no line is appended; lines that come meanwhile wait. Between finding it so and the work nothing may be awaited. */
  private async whileIdle<T>(work: () => Promise<T>): Promise<T> {
    for (let busy = this.checking ?? this.running; busy !== undefined; busy = this.checking ?? this.running)
      await busy;
    this.refuse();
    const done = work();
    const end = (): void => void (this.checking = undefined);
    this.checking = done.then(end, end);
    return done;
  }

  /** Ids of all rows that have ended, in the order of the files. */
  ids(): AsyncIterable<string> {
    return this.files.ids();
  }

  /** Completed rows that have a picture, with where it lies; without a path it was left at its URL. */
  pictures(): AsyncIterable<PictureLine> {
    return this.files.pictures();
  }

  /** Ends the files; spreadsheets with new columns are written again. */
  async finish(): Promise<void> {
    await this.whileIdle(() => this.files.settle(false));
  }

  close(): Promise<void> {
    return this.files.close();
  }

  private async drain(): Promise<void> {
    try {
      while (!this.waiting.isEmpty && this.failure === undefined) {
        const batch = this.waiting;
        this.waiting = new LineBatch(this.files.valueColumns);
        await this.files.append(batch);
        this.records = Math.max(this.records, batch.record);
      }
    } catch (error) {
      this.failure = { error };
    }
    this.running = undefined;
  }

  private refuse(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}

/** The covered part, if the files still have it. After a clean stop their sizes suffice. */
async function trusted({
  disk,
  folder,
  journal,
  covered,
}: ProjectionsOptions): Promise<FilesCovered | undefined> {
  const { recovered } = journal;
  if (covered === undefined || covered.records > recovered.records) return undefined;
  if ((covered.repairs ?? 0) !== recovered.repairs) return undefined;
  // costs.csv has other columns: it is written anew.
  if (String(covered.costBy ?? []) !== String(recovered.tally.columns)) return undefined;
  const isClean = covered.records === recovered.records;
  for (const [name, file] of Object.entries(covered.files)) {
    if (!(await holdsExtent(disk, `${folder}/${name}`, file, !isClean))) return undefined;
  }
  return covered;
}

/** Spreadsheets that an earlier start began are continued. */
async function sheetsThere({ disk, folder }: ProjectionsOptions): Promise<SheetColumns | undefined> {
  if ((await disk.stat(`${folder}/results.csv`)) === undefined) return undefined;
  return { results: [], failures: [] };
}

/** Whether both spreadsheets can be continued. */
function hasSheets({ files }: FilesCovered): boolean {
  return files['results.csv'] !== undefined && files['failures.csv'] !== undefined;
}
