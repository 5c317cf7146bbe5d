import { join } from 'node:path';
import type { Disk } from '../batch/disk/disk.js';
import { nodeDisk } from '../batch/disk/node-disk.js';
import { replaceFile } from '../batch/disk/replace-file.js';
import { pageDataOf } from './page-data-of.js';
import type { PageRow, RowSource } from './page-data.js';
import { readPageParts } from './page-parts.js';
import { manifestFoldersOf } from './pictures/manifest-folders-of.js';
import { PictureShelf } from './pictures/picture-shelf.js';
import { renderPage, type PageParts } from './render-page.js';
import { viewReport } from './report-view.js';
import { inlineRows } from './rows/inline-rows.js';
import { pageRows } from './rows/page-rows.js';
import { removeRowFiles, writeRowFiles } from './rows/row-files.js';
import { runState } from './run-state.js';
import { surveyRun, type Survey } from './survey/survey-run.js';
import { countOf } from './words/amounts.js';
import { embedJson } from './words/embed-json.js';

export interface WriteReportOptions {
  /** @defaultValue the real disk */
  readonly disk?: Disk;
  /** What the manifest's relative pictures are relative to. @defaultValue the folders of the manifests as the journal has them, and the one above the output folder */
  readonly manifestFolder?: string;
  /** @defaultValue the parts that came with the package */
  readonly parts?: PageParts;
}

/** A page with more rows than this, or with heavier thumbnails, takes its rows from files beside it. */
const maxInlineRows = 2000;
const maxInlineBytes = 30_000_000;

/**
 * Writes `report.html` into a run's output folder out of the files that lie there: one page that sends no request, with
 * script files beside it (`report/`) when the run is large. Replaces an earlier report in one step. Reads nothing but
 * files, so that it can be called while the run goes.
 */
export async function writeReport(
  folder: string,
  options: WriteReportOptions = {},
): Promise<{ path: string; rows: number }> {
  const disk = options.disk ?? nodeDisk;
  const state = await runState(disk, folder);
  const survey = await surveyRun(disk, folder);
  const parts = options.parts ?? (await readPageParts());
  const count = survey.rows.places.length;
  const manifestFolders =
    options.manifestFolder === undefined ? manifestFoldersOf(survey) : [options.manifestFolder];
  const shelf = await PictureShelf.open({
    disk,
    folder,
    manifestFolders,
    mayMake: count <= maxInlineRows ? Infinity : 0,
  });
  const path = join(folder, 'report.html');
  const inline = count <= maxInlineRows ? await collectInline(disk, survey, shelf) : undefined;
  if (inline === undefined) {
    const source = await writeRowFiles(disk, folder, pageRows(disk, survey, shelf), count);
    await replaceFile(disk, path, pageText(parts, survey, shelf, { source, state }));
  } else {
    await replaceFile(
      disk,
      path,
      pageText(parts, survey, shelf, { source: { kind: 'inline' }, blocks: inline }),
    );
    await removeRowFiles(disk, folder, 0);
  }
  return { path, rows: count };
}

/** The rows and thumbnails as blocks of the page; `undefined` when they are too heavy for one. */
async function collectInline(disk: Disk, survey: Survey, shelf: PictureShelf): Promise<string[] | undefined> {
  const rows: PageRow[] = [];
  for await (const batch of pageRows(disk, survey, shelf)) rows.push(...batch);
  return inlineRows(disk, survey.folder, rows, maxInlineBytes);
}

/** Where the page has its rows from, and what of them stands in it. */
interface PageRows {
  readonly source: RowSource;
  readonly blocks?: readonly string[];
  /** Told at the front of a page that is not written again as long as it tells the same. */
  readonly state?: string;
}

async function* pageText(
  parts: PageParts,
  survey: Survey,
  shelf: PictureShelf,
  { source, blocks = [], state = '' }: PageRows,
): AsyncGenerator<string, void, void> {
  const { top, bottom } = renderPage(parts, viewReport(survey, leftOut(shelf)), { state });
  yield top;
  yield `<script type="application/json" id="page-data">${embedJson(pageDataOf(survey, source))}</script>\n`;
  for (const block of blocks) yield block;
  yield bottom;
  await Promise.resolve();
}

function leftOut(shelf: PictureShelf): string[] {
  if (shelf.plain === 0) return [];
  const have = `${countOf(shelf.plain, 'picture')} ${shelf.plain === 1 ? 'has' : 'have'} no thumbnail`;
  return [
    `${have}: the gallery shows the files themselves. Thumbnails are made as a run saves its pictures, when sharp is installed: npm i sharp`,
  ];
}
