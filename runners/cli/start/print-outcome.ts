import { opendir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeDisk } from '../../batch/formats.js';
import { refreshSnapshot, type RunEvent, type Summary } from '../../batch/internal.js';
import { outcomeText, tookText } from '../messages/outcome-text.js';
import { fact, plainText, shownPath } from '../messages/plain-text.js';
import type { RunCommand, StartFacts } from '../../report/messages/run-again.js';
import { showAfterRun, type AfterRun } from '../progress/show-after-run.js';
import type { StartedRun } from './batch-options.js';
import { commandOfStarts } from '../plan/command-of-run.js';
import { whatIsLeft } from './what-is-left.js';

export type Warning = Omit<Extract<RunEvent, { type: 'warning' }>, 'type'>;

/** The files of a run, the most useful first. */
const files = [
  'results.jsonl',
  'results.csv',
  'failures.jsonl',
  'failures.csv',
  'costs.csv',
  'summary.json',
  'images',
  'files',
  'report.html',
];

/** Facts from the events of the start. */
interface Seen {
  readonly warnings: readonly Warning[];
  /** How many of its rows wait for another version. */
  readonly replaced: number;
}

/**
 * Prints how a run ended: one sentence, the figures, the failures by cause, and the files. With `--json` the summary goes to
 * stdout; with `--quiet` nothing is printed unless a person must act. Returns the exit code.
 */
export async function printOutcome(
  run: StartedRun,
  finished: Extract<RunEvent, { type: 'finished' }>,
  { warnings, replaced }: Seen,
): Promise<number> {
  const { io, options, out } = run;
  const { exitCode, summary } = finished;
  const sentence = plainText(finished.reason, 2000);
  if (summary === undefined) {
    io.stderr.write(`error: ${sentence}\n`);
    return exitCode;
  }
  // An interrupted run does not wait for the report or the snapshot.
  if (exitCode < 128) await writeAfterRun(run);
  if (options.json) io.stdout.write(`${JSON.stringify({ ...summary, warnings })}\n`);
  if (options.quiet && exitCode === 0) return exitCode;
  const { failed, toDo } = summary.rows;
  const isLeft = failed + toDo + summary.cost.possiblyDouble > 0;
  const todos = isLeft
    ? await whatIsLeft(out, summary, await commandOf(run, summary, replaced), exitCode)
    : [];
  if (options.quiet) {
    io.stderr.write(`${[sentence, ...todos].join('\n')}\n`);
    return exitCode;
  }
  const lines = [
    sentence,
    ...outcomeText(summary, run.target.local),
    ...tookText(summary),
    ...todos,
    ...(await filesText(out, io.cwd, exitCode < 128 ? await lookText(out, summary) : '')),
  ];
  (options.json || run.live !== undefined ? io.stderr : io.stdout).write(`${lines.join('\n')}\n`);
  // If stdout is a file, the person at the terminal gets the sentence on stderr.
  if (!options.json && run.live === undefined && io.stdout.isTTY !== true && io.stderr.isTTY === true)
    io.stderr.write(`${sentence}\n`);
  return exitCode;
}

/** How a later start names this run. Output of --quiet is mailed, so its paths are absolute. */
async function commandOf(run: StartedRun, { cost, rows }: Summary, replaced: number): Promise<RunCommand> {
  const { source, out, options, repeat, target, io, live } = run;
  const { local, baseUrl = '', lbBaseUrl = '' } = target;
  const manifest = live === undefined ? (source.keep?.path ?? source.path) : source.name;
  const maxCost = options.maxCostFrom === undefined ? cost.cap : undefined;
  const redoes = options.changed === 'redo';
  const last = { manifest, local, baseUrl, lbBaseUrl, repeat, maxCost, redoes };
  const { readFirstStart, readStory } = await import('../../report/survey/run-story.js');
  // Only if rows may be of any start's manifest, all starts are read, which means the whole journal.
  const isOfAny = rows.failed + replaced > 0;
  const first = isOfAny ? undefined : await readFirstStart(nodeDisk, out);
  const starts = isOfAny ? (await readStory(nodeDisk, out)).starts : [first ?? last];
  // Rows that wait for another version are not in this manifest.
  const areElsewhere = replaced > 0 && replaced >= rows.toDo;
  const other = areElsewhere ? starts.findLast((start) => start.manifest !== manifest) : undefined;
  const shown = (path: string) => (options.quiet ? path : shownPath(path, io.cwd));
  return commandOfStarts(starts, { ...last, ...(other && ofManifest(other)) }, out, shown);
}

function ofManifest({ manifest, repeat, redoes }: StartFacts) {
  return { manifest, repeat, redoes: redoes === true };
}

/** Writes the report, and a snapshot of a journal that has grown much. For a large run both take long, so their progress is shown. */
async function writeAfterRun(run: StartedRun): Promise<void> {
  const after = showAfterRun(run.io.stderr, run.options);
  await tryReport(run, after);
  await refreshSnapshot(nodeDisk, run.out, { onBegin: () => after.keepsSnapshot() });
  after.close();
}

/** Writes the report. A report that cannot be written is only a warning. */
async function tryReport({ io, out, source }: StartedRun, after: AfterRun): Promise<void> {
  try {
    const { refreshReport } = await import('../../report/write-report.js');
    const parts = await io.pageParts?.();
    await refreshReport(out, {
      manifestFolder: source.folder,
      ...(parts && { parts }),
      onWritten: (rows, of) => after.written(rows, of),
    });
  } catch (error) {
    io.stderr.write(`warning: report.html could not be written: ${plainText(String(error), 200)}\n`);
  }
}

/** Why to open the report; empty if there is nothing to look at. */
async function lookText(out: string, { rows }: Summary): Promise<string> {
  if (rows.completed === 0) return '';
  const pictures = await opendir(join(out, 'images')).catch(() => undefined);
  const first = await pictures?.read();
  await pictures?.close();
  return first ? 'to review the pictures' : 'to look at the results';
}

/** @param look why to open the report; empty if the report does not show the current state of the run */
async function filesText(out: string, cwd: string, look: string): Promise<string[]> {
  const there = await readdir(out).catch((): string[] => []);
  const names = files.filter((name) => there.includes(name));
  const report = look !== '' && names.includes('report.html') ? shownPath(join(out, 'report.html'), cwd) : '';
  return [
    ...fact('files', names.length === 0 ? '' : `${shownPath(out, cwd)}: ${names.join(', ')}`),
    ...fact('next', report === '' ? '' : `open ${report} ${look}`),
  ];
}
