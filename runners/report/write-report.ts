import { join } from 'node:path';
import { createHash } from 'node:crypto';
import type { Disk } from '../batch/disk/disk.js';
import { nodeDisk } from '../batch/disk/node-disk.js';
import { replaceFile } from '../batch/disk/replace-file.js';
import { pageDataOf } from './page-data-of.js';
import { pageName, type PageRow, type RowSource } from './page-data.js';
import { manifestFoldersOf, RunPictures } from './rows/run-pictures.js';
import { type PageParts, readPageParts, renderPage } from './render-page.js';
import { unreadOf, viewReport } from './report-view.js';
import { inlineRows, folderName, removeRowFiles, writeRowFiles } from './rows/row-files.js';
import { pageRows } from './rows/page-rows.js';
import { type Survey, surveyRun } from './survey/survey-run.js';
import { withRowsToGo } from './survey/rows-to-go.js';
import { countOf } from './messages/format-amounts.js';
import { embedJson } from './messages/escape-html.js';
import { readIfThere } from './read/read-jsonl.js';
import { version } from '../../src/contract/version.js';
import { readSummary } from '../batch/sinks/summary-file.js';

export interface WriteReportOptions {
  /** @defaultValue the real disk */
  readonly disk?: Disk;
  /**
   * The folder to which the manifest's pictures are relative. @defaultValue the folders of the manifests in the journal, and
   * the one above the output folder
   */
  readonly manifestFolder?: string;
  /** @defaultValue the parts that came with the package */
  readonly parts?: PageParts;
  /** Saves a small copy of a reference on the web; resolves to `false` if it cannot be fetched. @defaultValue none is fetched */
  readonly saveCopy?: (url: string, target: string) => Promise<boolean>;
  /** Called while the rows of a large run are written, with the number written and their total; first before any is written. */
  readonly onWritten?: (rows: number, of: number) => void;
}

/** A page with more rows than this, or with larger thumbnails, loads its rows from files beside it. */
const maxInlineRows = 2000;
const maxInlineBytes = 30_000_000;

/**
 * Writes `report.html` into a run's output folder from the files there: one page that sends no request, with script files
 * beside it (`report/`) if the run is large. Replaces an earlier report in one step. It only reads files, unless `saveCopy`
 * fetches references, so it can be called during the run.
 */
export async function writeReport(
  folder: string,
  options: WriteReportOptions = {},
): Promise<{ path: string; rows: number; unread: readonly string[] }> {
  const disk = options.disk ?? nodeDisk;
  const state = await runState(disk, folder);
  const survey = await withRowsToGo(disk, await surveyRun(disk, folder));
  const parts = options.parts ?? (await readPageParts());
  const count = survey.rows.places.length;
  const manifestFolders =
    options.manifestFolder === undefined ? manifestFoldersOf(survey) : [options.manifestFolder];
  const shelf = await RunPictures.open({
    disk,
    folder,
    manifestFolders,
    mayMake: count <= maxInlineRows ? Infinity : 0,
    ...(options.saveCopy && { saveCopy: options.saveCopy }),
  });
  const path = join(folder, 'report.html');
  const inline = count <= maxInlineRows ? await collectInline(disk, survey, shelf) : undefined;
  if (inline === undefined) {
    const source = await writeRowFiles(disk, survey, shelf, options.onWritten);
    await replaceFile(disk, path, pageText(parts, survey, shelf, { source, state }));
  } else {
    await replaceFile(
      disk,
      path,
      pageText(parts, survey, shelf, { source: { kind: 'inline' }, blocks: inline }),
    );
    await removeRowFiles(disk, folder, 0);
  }
  return { path, rows: count, unread: unreadOf(survey) };
}

/** The rows and thumbnails as blocks of the page; `undefined` if they are too large for one. */
async function collectInline(disk: Disk, survey: Survey, shelf: RunPictures): Promise<string[] | undefined> {
  const rows: PageRow[] = [];
  for await (const batch of pageRows(disk, survey, shelf)) rows.push(...batch);
  return inlineRows(disk, survey.folder, rows, maxInlineBytes);
}

/** The source of the page's rows, and the part of them that is in the page. */
interface PageRows {
  readonly source: RowSource;
  readonly blocks?: readonly string[];
  /** A text at the front of the page. While it stays the same, the page is not written again. */
  readonly state?: string;
}

async function* pageText(
  parts: PageParts,
  survey: Survey,
  shelf: RunPictures,
  { source, blocks = [], state = '' }: PageRows,
): AsyncGenerator<string, void, void> {
  const { top, bottom } = renderPage(parts, viewReport(survey, leftOut(shelf)), { state });
  yield top;
  yield `<script type="application/json" id="page-data">${embedJson(pageDataOf(survey, source))}</script>\n`;
  for (const block of blocks) yield block;
  yield bottom;
  await Promise.resolve();
}

function leftOut(shelf: RunPictures): string[] {
  if (shelf.plain === 0) return [];
  const have = `${countOf(shelf.plain, 'picture')} ${shelf.plain === 1 ? 'has' : 'have'} no thumbnail`;
  return [
    `${have}: the gallery shows the files themselves. Thumbnails are made as a run saves its pictures, of whole ones, when sharp is installed: npm i sharp`,
  ];
}

/** The state is within this many bytes of the page's beginning. */
const headBytes = 2048;

/**
 * Writes `report.html`, unless a large one already shows this state, so that a start that finds nothing to do does not write a
 * million rows again. A small report is always written, which takes no time.
 */
export async function refreshReport(folder: string, options: WriteReportOptions = {}): Promise<void> {
  const disk = options.disk ?? nodeDisk;
  const state = await runState(disk, folder);
  if (state === '' || state !== (await writtenState(disk, folder))) await writeReport(folder, options);
}

/** The state that the report in the folder shows; `undefined` if it is small, or its rows are missing. */
async function writtenState(disk: Disk, folder: string): Promise<string | undefined> {
  const rows = await disk.stat(join(folder, folderName, pageName(0)));
  if (rows === undefined) return undefined;
  const head = await readIfThere(disk, join(folder, 'report.html'), headBytes);
  return /<meta name="run-state" content="(\w+)">/.exec(head?.toString() ?? '')?.[1];
}

/**
 * A short text that changes whenever the report would, except for the times of starts; empty if summary.json does not have how
 * far the other files go.
 */
export async function runState(disk: Disk, folder: string): Promise<string> {
  const summary = await readSummary(disk, folder);
  if (summary?.covers === undefined) return '';
  const { rows, failures, statusCalls, prices, priceTable } = summary;
  const cost = { ...summary.cost, drift: 0 };
  const facts = [version, rows, failures, cost, statusCalls, prices, priceTable, summary.covers.files];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 24);
}
