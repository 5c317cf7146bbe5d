import type { Disk } from '../disk/disk.js';
import { type Journal, journalPath } from '../journal/journal.js';
import { journalMoved } from '../journal/journal-error.js';
import { catchUp } from './catch-up.js';
import { costValueColumns } from './cost-line.js';
import type { EndedRow } from './line-text.js';
import { closedOnError, holdsExtent } from './line-file.js';
import { LineBatch } from './line-batch.js';
import type { FilesCovered } from './spreadsheet.js';
import { RunFiles, type SheetColumns } from './run-files.js';

export interface ProjectionsOptions {
  readonly disk: Disk;
  readonly folder: string;
  readonly journal: Journal;
  /** How far the files went at the last start; without it they are compared with the whole journal. */
  readonly covered?: FilesCovered | undefined;
  /** Also write results.csv and failures.csv, with these columns. */
  readonly sheets?: SheetColumns | undefined;
}

/**
 * results.jsonl, failures.jsonl, costs.csv and the other files that follow from the journal and can be rewritten from
 * it alone. After the first disk error in `write`, every later call fails with that error.
 */
export class Projections {
  private waiting: LineBatch;
  private running: Promise<void> | undefined;
  /** No line is appended while this is pending. */
  private checking: Promise<unknown> | undefined;
  private failure: { readonly error: unknown } | undefined;

  private constructor(
    private readonly journal: Journal,
    readonly files: RunFiles,
    private records: number,
  ) {
    this.waiting = new LineBatch(files.valueColumns);
  }

  /**
   * Opens the files and brings them up to date with the journal. The caller has checked the files against the journal
   * before (`refuseLostJournal`).
   */
  static async open(options: ProjectionsOptions): Promise<Projections> {
    const { disk, folder, journal } = options;
    const path = journalPath(folder);
    // The folder was moved away meanwhile, and files in its place would look like those of a run that has lost its journal.
    if (journal.recovered.records > 0 && (await disk.stat(path)) === undefined) throw journalMoved(path);
    const covered = await trusted(options);
    const sheets = options.sheets ?? (await sheetsThere(options));
    const valueColumns = costValueColumns(journal.recovered.tally.columns);
    const files = await RunFiles.open(disk, folder, covered?.files ?? {}, { sheets, valueColumns });
    const projections = new Projections(journal, files, covered?.records ?? 0);
    const isNewSheet = covered !== undefined && sheets !== undefined && !hasSheets(covered);
    await closedOnError(projections, async () => {
      if (covered?.replacesResults === true) await projections.watchResults();
      await projections.catchUp(isNewSheet);
    });
    return projections;
  }

  /** Rows are awaited whose earlier results are in results.jsonl. */
  private async watchResults(): Promise<void> {
    const { rows, records } = this.journal.recovered;
    const areAllThere = this.records === records;
    await this.files.watchResults((id) => areAllThere && rows.get(id)?.status === 'completed');
  }

  /**
   * Brings the files up to date with records that were appended to the journal without `write`: removes the failures of reopened
   * rows.
   */
  async catchUp(areNewSheets = false): Promise<void> {
    const { records, removed } = await catchUp(this.files, this.journal, this.records);
    this.records = records;
    await this.files.settle(areNewSheets ? { results: true, failures: true } : removed);
  }

  /**
   * Writes the lines of a row that has ended. Resolves when they are in the files.
   *
   * @param record Number of its outcome in the journal; calls must come in this order.
   * @param isCurrent False for a row that is bought again at once: only its purchase gets a line.
   */
  async write(row: EndedRow, record: number, isCurrent = true): Promise<void> {
    this.waiting.add(row, isCurrent);
    this.waiting.record = record;
    while (this.checking !== undefined) await this.checking;
    // Lines that arrive during an append are written with the next one.
    this.running ??= Promise.resolve().then(() => this.drain());
    await this.running;
    this.refuse();
  }

  /** Makes the written bytes durable, under the names of the files. Resolves to the part of the journal that this covers. */
  async sync(): Promise<FilesCovered> {
    const covered = await this.whileIdle(() => this.covered());
    await this.files.sync();
    await this.whileIdle(() => this.files.keepNames());
    return covered;
  }

  /** How far all files go. Call it only between appends: during one, some files are ahead of the others and of `records`. */
  private covered(): Promise<FilesCovered> {
    const { repairs, tally } = this.journal.recovered;
    const costBy = tally.columns;
    const { replacesResults } = this.files;
    return Promise.resolve({
      records: this.records,
      ...(replacesResults !== undefined && { replacesResults }),
      ...(repairs > 0 && { repairs }),
      ...(costBy.length > 0 && { costBy }),
      files: this.files.extents(),
    });
  }

  /**
   * Runs `work` while no line is appended; lines that arrive meanwhile wait. There must be no `await` between the check
   * and the work.
   */
  private async whileIdle<T>(work: () => Promise<T>): Promise<T> {
    for (let busy = this.checking ?? this.running; busy !== undefined; busy = this.checking ?? this.running)
      await busy;
    this.refuse();
    const done = work();
    const end = (): void => void (this.checking = undefined);
    this.checking = done.then(end, end);
    return done;
  }

  /** Completes the files: removes replaced results; spreadsheets with new columns are rewritten. */
  async finish(): Promise<void> {
    await this.whileIdle(async () =>
      this.files.settle({ results: await this.files.removeReplaced(), failures: false }),
    );
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

/** What the last start covered, if the files still have it. After a clean stop it is enough to compare their sizes. */
async function trusted({
  disk,
  folder,
  journal,
  covered,
}: ProjectionsOptions): Promise<FilesCovered | undefined> {
  const { recovered } = journal;
  if (covered === undefined || covered.records > recovered.records) return undefined;
  if ((covered.repairs ?? 0) !== recovered.repairs) return undefined;
  // The version that wrote them moved the results of rows to be redone to earlier.jsonl at once.
  if (covered.files['earlier.jsonl'] !== undefined && covered.replacesResults === undefined) return undefined;
  // costs.csv has other columns: all files are compared from the beginning.
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
