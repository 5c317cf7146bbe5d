import { readdir } from 'node:fs/promises';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import type { RunEvent } from '../../batch/index.js';
import { refreshSnapshot } from '../../batch/journal/save-snapshot.js';
import type { FailureGroup } from '../../report/messages/group-failures.js';
import { failureText, outcomeText } from '../messages/outcome-text.js';
import { plainText, shownPath } from '../messages/plain-text.js';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Summary } from '../../batch/sinks/summary-file.js';
import type { RunCommand } from '../../report/messages/what-to-do.js';
import type { StartedRun } from './batch-options.js';

/** A warning of a run. */
export type Warning = Omit<Extract<RunEvent, { type: 'warning' }>, 'type'>;

type Finished = Extract<RunEvent, { type: 'finished' }>;

/** The files that a run can leave, the most useful first. */
const files = [
  'results.jsonl',
  'results.csv',
  'failures.jsonl',
  'failures.csv',
  'costs.csv',
  'summary.json',
  'images',
  'report.html',
];

/**
 * Prints how a run ended: one sentence, the figures, the failures by cause, and where the files are. With `--json` the
 * summary goes to stdout; with `--quiet` nothing is printed of a run that needs nobody. Returns the exit code.
 */
export async function printOutcome(
  run: StartedRun,
  finished: Finished,
  {
    failures: groups,
    warnings,
  }: { readonly failures: readonly FailureGroup[]; readonly warnings: readonly Warning[] },
): Promise<number> {
  const { io, options, out } = run;
  const { exitCode, summary } = finished;
  const sentence = plainText(finished.reason, 2000);
  if (summary === undefined) {
    io.stderr.write(`error: ${sentence}\n`);
    return exitCode;
  }
  await tryReport(run, exitCode);
  // An interrupted run ends without waiting for it.
  if (exitCode < 128) await refreshSnapshot(nodeDisk, out);
  if (options.json) io.stdout.write(`${JSON.stringify({ ...summary, warnings })}\n`);
  const failed = failureText(groups, commandOf(run), pricesOf(summary));
  if (options.quiet) {
    if (exitCode !== 0) io.stderr.write(`${[sentence, ...failed].join('\n')}\n`);
    return exitCode;
  }
  const lines = [
    sentence,
    ...outcomeText(summary, run.target.local),
    ...failed,
    ...(await filesText(out, io.cwd)),
  ];
  (options.json || run.live !== undefined ? io.stderr : io.stdout).write(`${lines.join('\n')}\n`);
  // Where stdout is a file, the person at the terminal gets the sentence too.
  if (!options.json && run.live === undefined && io.stdout.isTTY !== true && io.stderr.isTTY === true)
    io.stderr.write(`${sentence}\n`);
  return exitCode;
}

/** The options that a later start needs to be this run again. */
function commandOf({ source, out, options, target, io }: StartedRun): RunCommand {
  const { local, baseUrl, lbBaseUrl } = target;
  const given: readonly (readonly [name: string, value: string | number | undefined])[] = [
    ['--base-url', local ? undefined : baseUrl],
    ['--lb-base-url', local ? undefined : lbBaseUrl],
    ['--endpoint', options.endpoint],
    ['--max-cost', typeof options.maxCost === 'number' ? options.maxCost : undefined],
  ];
  return {
    manifest: shownPath(source.path, io.cwd),
    folder: shownPath(out, io.cwd),
    options: [
      ...(local ? ['--local'] : []),
      ...given.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)])),
    ],
    isRehearsal: local,
  };
}

/** What the next start reserves for a picture, by resolution. */
function pricesOf({ prices, priceTable }: Summary): Record<string, MicroDollars> {
  const all = Object.entries({ ...prices, ...priceTable?.reported });
  return Object.fromEntries(all.map(([resolution, usd]) => [resolution, toMicroDollars(usd)]));
}

/** Writes the report. A report that cannot be written is only a warning. An interrupted run ends without it. */
async function tryReport({ io, out, source }: StartedRun, exitCode: number): Promise<void> {
  if (exitCode >= 128) return;
  try {
    const { refreshReport } = await import('../../report/write-report.js');
    const parts = await io.pageParts?.();
    await refreshReport(out, { manifestFolder: source.folder, ...(parts && { parts }) });
  } catch (error) {
    io.stderr.write(`warning: report.html could not be written: ${plainText(String(error), 200)}\n`);
  }
}

async function filesText(out: string, cwd: string): Promise<string[]> {
  const there = await readdir(out).catch((): string[] => []);
  const names = files.filter((name) => there.includes(name));
  return names.length === 0 ? [] : [`  ${'files'.padEnd(12)} ${shownPath(out, cwd)}: ${names.join(', ')}`];
}
