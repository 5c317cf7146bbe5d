import type { Disk } from '../disk/disk.js';
import { costHeader, heldPurchase, type HeldPurchase } from './cost-line.js';
import { joinQuoted, lineJson, lineId } from './line-text.js';
import { failureColumns, failureSheetRow } from './failure-line.js';
import { NumbersByText } from '../journal/rows/hash-index.js';
import { valueOfJson } from '../disk/read-file.js';
import type { CompletedRow, LineBatch } from './line-batch.js';
import { closedOnError, LineFile, type FileExtent } from './line-file.js';
import { type ResultLine, resultColumns, resultSheetRow } from './result-line.js';
import { Spreadsheet, type FileExtents, type SheetExtent, type SheetRow } from './spreadsheet.js';

/** Columns of results.csv and failures.csv beyond those that every run has. */
export interface SheetColumns {
  readonly results: readonly string[];
  readonly failures: readonly string[];
}

/** Spreadsheets whose rows are no longer the lines of their JSONL files. */
export type StaleSheets = Readonly<Record<keyof SheetColumns, boolean>>;

/** A completed row that has a picture, or files that were asked for. */
export interface PictureLine {
  readonly id: string;
  /** Missing if the picture was left at its URL, and if there is no picture. */
  readonly path: string | undefined;
  /** All pictures and files of the row, with `undefined` for those left at their URLs. */
  readonly paths: readonly (string | undefined)[];
  /** When the picture's URL expires. */
  readonly expiresAt: string | undefined;
}

/** About the length of a line of results.jsonl. */
const oneLineBytes = 4 << 10;

/** The files that follow from the journal. Only one call at a time, unless a method says otherwise. */
export class RunFiles {
  private earlier: LineFile | undefined;
  /** By row: where its latest line begins in results.jsonl. Present only while lines there may be replaced. */
  private watched: NumbersByText | undefined;
  /** The number of lines in results.jsonl that a later one of their row replaces. */
  private replaced = 0;

  private constructor(
    private readonly disk: Disk,
    private readonly folder: string,
    readonly results: LineFile,
    readonly failures: LineFile,
    private readonly costs: LineFile,
    private readonly sheets: { results: Spreadsheet; failures: Spreadsheet } | undefined,
    /** The user's columns in costs.csv. */
    readonly valueColumns: readonly string[],
  ) {}

  /**
   * @param extents How far each file has been written. A file that has no entry here is written or compared from its
   *   beginning.
   */
  static async open(
    disk: Disk,
    folder: string,
    extents: FileExtents,
    { sheets, valueColumns }: { sheets: SheetColumns | undefined; valueColumns: readonly string[] },
  ): Promise<RunFiles> {
    const opened: LineFile[] = [];
    const open = async (name: string): Promise<LineFile> => {
      const file = await LineFile.open(disk, `${folder}/${name}`, extents[name]);
      opened.push(file);
      return file;
    };
    const sheet = async (name: string, columns: readonly string[]): Promise<Spreadsheet> => {
      const opening = await Spreadsheet.open(disk, `${folder}/${name}`, columns, sheetExtent(extents[name]));
      opened.push(opening.file);
      return opening;
    };
    const close = async (): Promise<void> => {
      for (const file of opened) await file.close().catch(() => undefined);
    };
    return closedOnError({ close }, async () => {
      const files = new RunFiles(
        disk,
        folder,
        await open('results.jsonl'),
        await open('failures.jsonl'),
        await open('costs.csv'),
        sheets && {
          results: await sheet('results.csv', [...resultColumns, ...sheets.results]),
          failures: await sheet('failures.csv', failureColumns(sheets.failures)),
        },
        valueColumns,
      );
      if (extents['costs.csv'] === undefined) await files.costs.append(costHeader(valueColumns));
      const hasEarlier = (await disk.stat(`${folder}/earlier.jsonl`)) !== undefined;
      if (hasEarlier) files.earlier = await open('earlier.jsonl');
      return files;
    });
  }

  extents(): FileExtents {
    const results = this.sheets?.results.extent;
    const failures = this.sheets?.failures.extent;
    return {
      'results.jsonl': this.results.extent,
      'failures.jsonl': this.failures.extent,
      'costs.csv': this.costs.extent,
      ...(this.earlier && { 'earlier.jsonl': this.earlier.extent }),
      ...(results && { 'results.csv': results }),
      ...(failures && { 'failures.csv': failures }),
    };
  }

  /**
   * Whether lines in results.jsonl may be replaced by later ones. `undefined` if none ever were, as in the files of a version that
   * removed them at once.
   */
  get replacesResults(): boolean | undefined {
    return this.earlier === undefined && this.watched === undefined ? undefined : this.watched !== undefined;
  }

  async append(batch: LineBatch): Promise<void> {
    const { completed, failures, costs } = batch;
    const results = completed.flatMap(({ line }) => line ?? []);
    const from = this.results.extent.bytes;
    const lines = results.map((line) => `${lineJson(line)}\n`);
    if (results.length > 0) await this.results.append(lines.join(''));
    if (failures.length > 0)
      await this.failures.append(failures.map((line) => `${lineJson(line)}\n`).join(''));
    if (costs !== '') await this.costs.append(costs);
    const earlier = await this.replacedBy(completed, lines, from);
    if (earlier !== '') await (await this.openEarlier()).append(earlier);
    await this.sheets?.results.append(results.map(resultSheetRow));
    await this.sheets?.failures.append(failures.map(failureSheetRow));
  }

  /**
   * From now on, knows the latest line of each row in results.jsonl: the line that a new result of the row replaces goes to
   * earlier.jsonl, and leaves results.jsonl with `removeReplaced`.
   *
   * @param isDone Whether no new result of a row is awaited: if so for all rows, nothing has to be known. @defaultValue some is
   */
  async watchResults(isDone?: (id: string) => boolean): Promise<void> {
    if (this.watched !== undefined) return;
    const watched = new NumbersByText();
    let at = 0;
    let isAwaited = isDone === undefined;
    for await (const line of this.results.lines()) {
      const id = lineId(line);
      if (watched.get(id) !== undefined) this.replaced++;
      watched.set(id, at);
      at += line.length + 1;
      isAwaited ||= isDone?.(id) === false;
    }
    if (isAwaited || this.replaced > 0) this.watched = watched;
  }

  /** Removes lines from results.jsonl that later ones of their rows replace. Returns whether there were any. */
  async removeReplaced(): Promise<boolean> {
    const { watched } = this;
    if (watched === undefined || this.replaced === 0) return false;
    const kept = new NumbersByText();
    let [from, to] = [0, 0];
    await this.results.filter((line) => {
      const id = lineId(line);
      const isLatest = watched.get(id) === from;
      from += line.length + 1;
      if (isLatest) kept.set(id, to);
      if (isLatest) to += line.length + 1;
      return isLatest;
    });
    this.watched = kept;
    this.replaced = 0;
    return true;
  }

  removeFailures(isTaken: (id: string) => boolean): Promise<void> {
    return this.failures.filter((line) => !isTaken(lineId(line)));
  }

  /** Removes purchases that are no longer held as unknown from costs.csv. */
  async removeHeld(isVoid: (purchase: HeldPurchase) => boolean): Promise<void> {
    const keep = (line: Buffer): boolean => {
      const held = heldPurchase(line.toString());
      return held === undefined || !isVoid(held);
    };
    await this.costs.filter(keep, joinQuoted(this.costs.lines()));
  }

  /** Cuts off lines that do not follow from the journal, and rewrites stale spreadsheets. */
  async settle(stale: StaleSheets): Promise<void> {
    for (const file of [this.results, this.failures, this.costs, this.earlier]) await file?.settle();
    await this.sheets?.results.refresh(() => sheetRows(this.results, resultSheetRow), stale.results);
    await this.sheets?.failures.refresh(() => sheetRows(this.failures, failureSheetRow), stale.failures);
  }

  /** Ids of all rows that have ended, in the order of the files. */
  async *ids(): AsyncGenerator<string> {
    for (const file of [this.results, this.failures])
      for await (const line of file.lines()) yield lineId(line);
  }

  /** Completed rows that have a picture or files, with the paths; without a path the picture was left at its URL. */
  async *pictures(): AsyncGenerator<PictureLine> {
    for await (const line of this.results.lines()) {
      if (!line.includes('"image":{') && !line.includes('"files":[')) continue;
      const { id, image, files = [] } = JSON.parse(line.toString()) as ResultLine;
      const outputs = [...(image ? [image] : []), ...files.filter(({ path, url }) => path ?? url)];
      // The picture that is named there is missing, and another one is in its place.
      const paths = outputs.map(({ path, problem }) => (problem === undefined ? path : undefined));
      if (outputs.length > 0) yield { id, path: image?.path, paths, expiresAt: image?.expiresAt };
    }
  }

  /** Makes the written bytes durable. May run during `append`. */
  async sync(): Promise<void> {
    for (const file of this.all()) await file.sync();
  }

  /** Restores files that another program has replaced. Must not run during `append`. */
  async keepNames(): Promise<void> {
    for (const file of this.all()) await file.keepName();
  }

  async close(): Promise<void> {
    for (const file of this.all()) await file.close().catch(() => undefined);
  }

  private all(): LineFile[] {
    const { results, failures, costs, earlier, sheets } = this;
    const files = [results, failures, costs, earlier, sheets?.results.file, sheets?.failures.file];
    return files.filter((file) => file !== undefined);
  }

  /**
   * The lines for earlier.jsonl: what these rows had completed with before.
   *
   * @param lines The lines that were appended for them.
   * @param from Where these begin in results.jsonl.
   */
  private async replacedBy(
    completed: readonly CompletedRow[],
    lines: readonly string[],
    from: number,
  ): Promise<string> {
    let [earlier, next, at] = ['', 0, from];
    for (const row of completed) {
      const taken = await this.takeOut(row);
      earlier += row.before === undefined ? taken : `${taken}${lineJson(row.before)}\n`;
      if (row.line === undefined) continue;
      this.watched?.set(row.id, at);
      at += Buffer.byteLength(lines[next++] ?? '');
    }
    return earlier;
  }

  /** The line of the row's result before this one, for earlier.jsonl; empty if there is none, or if it is the same purchase. */
  private async takeOut({ id, attempts }: CompletedRow): Promise<string> {
    const at = this.watched?.get(id);
    if (at === undefined) return '';
    this.watched?.set(id, undefined);
    this.replaced++;
    for await (const line of this.results.lines(at, { chunkBytes: oneLineBytes })) {
      const text = line.toString();
      // Another program may have changed the file.
      const was = valueOfJson(text) as { id?: unknown; attempts?: unknown } | null | undefined;
      return was?.id !== id || was.attempts === attempts ? '' : `${text}\n`;
    }
    return '';
  }

  private async openEarlier(): Promise<LineFile> {
    return (this.earlier ??= await LineFile.open(this.disk, `${this.folder}/earlier.jsonl`));
  }
}

async function* sheetRows<T>(file: LineFile, rowOf: (line: T) => SheetRow): AsyncGenerator<SheetRow> {
  for await (const line of file.lines()) yield rowOf(JSON.parse(line.toString()) as T);
}

function sheetExtent(extent: (FileExtent & Partial<SheetExtent>) | undefined): SheetExtent | undefined {
  return extent?.columns === undefined ? undefined : { ...extent, columns: extent.columns };
}
