import type { Disk } from '../disk/disk.js';
import { csvLine } from './line-text.js';
import { closedOnError, LineFile, type FileExtent } from './line-file.js';

export type SheetRow = Readonly<Record<string, unknown>>;

export interface SheetExtent extends FileExtent {
  readonly columns: readonly string[];
}

/** How far each file of a run has been written, by file name. */
export type FileExtents = Readonly<Record<string, FileExtent & Partial<SheetExtent>>>;

/** The part of the journal that the files include. Kept in summary.json. */
export interface FilesCovered {
  readonly records: number;
  /** How often the journal had been repaired: a later repair renumbers its records. @defaultValue 0 */
  readonly repairs?: number;
  /**
   * Whether results.jsonl may have lines that are replaced by a new result of their row. Absent if it never had any, and in what
   * older versions wrote.
   */
  readonly replacesResults?: boolean;
  /** Columns that costs.csv has in addition to the fixed ones. @defaultValue none */
  readonly costBy?: readonly string[];
  readonly files: FileExtents;
}

/**
 * A CSV file that follows a JSONL file line by line. Its columns are in its first line: a row with further columns
 * makes it stale, and `refresh` then rewrites it from the JSONL file.
 */
export class Spreadsheet {
  private isStale = false;

  private constructor(
    readonly file: LineFile,
    private readonly columns: Set<string>,
    /** Whether there may be rows whose columns it has not seen. */
    private isNew: boolean,
  ) {}

  /** @param extent How far the file has been written, if it can be continued. */
  static async open(
    disk: Disk,
    path: string,
    columns: readonly string[],
    extent: SheetExtent | undefined,
  ): Promise<Spreadsheet> {
    const file = await LineFile.open(disk, path, extent);
    const sheet = new Spreadsheet(file, new Set(extent?.columns ?? columns), extent === undefined);
    if (extent === undefined) await closedOnError(file, () => file.append(csvLine([...sheet.columns])));
    sheet.learn(columns);
    return sheet;
  }

  /** `undefined` while the file is stale: the next start rewrites it. */
  get extent(): SheetExtent | undefined {
    return this.isStale ? undefined : { ...this.file.extent, columns: [...this.columns] };
  }

  /** Appends rows. Once a row has a new column, nothing is written until `refresh`. */
  async append(rows: readonly SheetRow[]): Promise<void> {
    for (const row of rows) this.learn(Object.keys(row));
    if (!this.isStale) await this.file.append(rows.map((row) => this.lineOf(row)).join(''));
  }

  /** Rewrites the whole file if it is stale or `force` is set. */
  async refresh(rows: () => AsyncIterable<SheetRow>, force = false): Promise<void> {
    if (!this.isStale && !force) return this.file.settle();
    if (this.isNew) for await (const row of rows()) this.learn(Object.keys(row));
    this.isNew = false;
    const head = csvLine([...this.columns]);
    const lineOf = (row: SheetRow): string => this.lineOf(row);
    const lines = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from(head);
      for await (const row of rows()) yield Buffer.from(lineOf(row));
    };
    await this.file.replace(lines());
    this.isStale = false;
  }

  private lineOf(row: SheetRow): string {
    return csvLine([...this.columns].map((column) => row[column]));
  }

  private learn(columns: readonly string[]): void {
    const known = this.columns.size;
    for (const column of columns) this.columns.add(column);
    if (this.columns.size > known) this.isStale = true;
  }
}
