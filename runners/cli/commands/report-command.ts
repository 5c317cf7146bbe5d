import type { PageParts } from '../../report/render-page.js';
import { writeReport } from '../../report/write-report.js';
import { explainPort } from '../io/explain-error.js';
import type { CliIo, CommandCall } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import type { ReferenceCopies } from '../../report/rows/reference-copies.js';
import { nodeDisk } from '../../batch/formats.js';
import { whoHolds } from '../../batch/internal.js';
import { showAfterRun, type AfterRun } from '../progress/show-after-run.js';
import { holdsRun, runFolder } from '../options/run-folder.js';
import { elsewhereNote } from '../plan/plan-difference.js';
import { countOf, plainText, shownPath } from '../messages/plain-text.js';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { untilStopped } from '../io/listen-for-stop.js';
import { commandOptions } from '../options/parse-options.js';

/**
 * Writes report.html of a finished or running run from its files. With `--fetch-references` it also saves small copies of
 * references on the web. It names those that it cannot fetch; the exit code is 0 all the same.
 */
export async function reportCommand({
  args: [name],
  raw,
  io,
  fault,
}: CommandCall<[string]>): Promise<number> {
  const { fetchReferences } = commandOptions('report', raw);
  fault.folder = await runFolder(name, io);
  io.beforeRows?.();
  const after = showAfterRun(io.stderr, { quiet: false });
  const copies = fetchReferences ? await openCopies(fault.folder, after) : undefined;
  const { path, rows, unread } = await writeReport(fault.folder, {
    ...(await partsOf(io)),
    ...(copies && { saveCopy: (url, target) => copies.save(url, target) }),
    onWritten: (written, of) => after.written(written, of),
  }).finally(() => after.close());
  if (copies !== undefined) printCopies(copies, io);
  for (const sentence of unread) io.stderr.write(`warning: ${sentence}\n`);
  for (const note of await missingRowsNote(fault.folder)) io.stderr.write(`${note}\n`);
  io.stdout.write(`${shownPath(path, io.cwd)}: ${countOf(rows, 'row')}\n`);
  return 0;
}

/**
 * Serves the report of a run on loopback, and keeps open pages up to date, until SIGINT or SIGTERM. The run may be running in
 * another process, be over, or not have begun. Prints the address of the page on stdout; only reads files. Exit 0.
 */
export async function watchCommand({ args: [name], raw, io }: CommandCall<[string]>): Promise<number> {
  const { port = 0 } = commandOptions('watch', raw);
  const folder = resolve(io.cwd, name);
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === false)
    throw new UsageError([`"${name}" is not a folder: name the output folder of a run`]);
  const hasRun = await holdsRun(folder);
  const stopped = untilStopped(io);
  const { watchRun } = await import('../../report/watch/watch-run.js');
  const live = await watchRun(folder, { port, ...(await partsOf(io)) }).catch((error: unknown) =>
    explainPort(error, port),
  );
  io.stdout.write(`${live.url}\n`);
  const shown = shownPath(folder, io.cwd);
  io.stderr.write(
    `${hasRun ? `watching ${shown}` : `no run lies in ${shown} yet: the page shows it as soon as one begins`}; Ctrl-C ends it\n`,
  );
  await stopped;
  await live.close();
  return 0;
}

/** Rows that workers have bought since the folder's own process ended are missing in the report. */
async function missingRowsNote(folder: string): Promise<string[]> {
  const then = 'the report lacks them until a start with --db copies them';
  const notes = await elsewhereNote(folder, 'bought more rows,', then).catch(() => []);
  return notes.length > 0 && (await whoHolds(nodeDisk, folder)) !== undefined ? [] : notes;
}

/** @throws UsageError with the advice `npm i sharp` */
async function openCopies(folder: string, after: AfterRun): Promise<ReferenceCopies> {
  if ((await import('sharp').catch(() => undefined)) === undefined)
    throw new UsageError(['--fetch-references needs a package that is not installed: npm i sharp']);
  const { ReferenceCopies } = await import('../../report/rows/reference-copies.js');
  return ReferenceCopies.open(nodeDisk, folder, { onSaved: (count) => after.fetched(count) });
}

function printCopies({ saved, failed, reasons }: ReferenceCopies, { stderr }: CliIo): void {
  stderr.write(`${countOf(saved, 'reference')} fetched\n`);
  if (failed === 0) return;
  const why = reasons.map((reason) => plainText(reason, 200)).join('; ');
  stderr.write(`warning: ${countOf(failed, 'reference')} could not be fetched: ${why}\n`);
}

async function partsOf({ pageParts }: CliIo): Promise<{ parts?: PageParts }> {
  return pageParts === undefined ? {} : { parts: await pageParts() };
}
