import { readdir } from 'node:fs/promises';
import { relative } from 'node:path';
import type { RunEvent } from '../../batch/run/run-event.js';
import type { FailureGroup } from '../words/group-failures.js';
import { failureText, outcomeText } from '../words/outcome-text.js';
import { plainText } from '../words/plain-text.js';
import type { StartedRun } from './batch-options.js';

type Finished = Extract<RunEvent, { type: 'finished' }>;

/** The files that a run can leave, in the order in which a person wants them. */
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
 * Says how a run ended: one sentence, the figures, the failures by cause, and where the files are. With `--json` the
 * summary stands on stdout; with `--quiet` nothing is said of a run that needs nobody. Returns the exit code.
 */
export async function tellOutcome(
  run: StartedRun,
  finished: Finished,
  groups: readonly FailureGroup[],
): Promise<number> {
  const { io, options, out } = run;
  const { exitCode, summary } = finished;
  const sentence = plainText(finished.reason, 2000);
  if (summary === undefined) {
    io.stderr.write(`error: ${sentence}\n`);
    return exitCode;
  }
  if (options.json) io.stdout.write(`${JSON.stringify(summary)}\n`);
  if (options.quiet) {
    if (exitCode !== 0) io.stderr.write(`${[sentence, ...failureText(groups)].join('\n')}\n`);
    return exitCode;
  }
  const lines = [
    sentence,
    ...outcomeText(summary),
    ...failureText(groups),
    ...(await filesText(out, io.cwd)),
  ];
  (options.json ? io.stderr : io.stdout).write(`${lines.join('\n')}\n`);
  // Who looks at stderr alone, because stdout goes into a file, is told as well.
  if (!options.json && io.stdout.isTTY !== true) io.stderr.write(`${sentence}\n`);
  return exitCode;
}

async function filesText(out: string, cwd: string): Promise<string[]> {
  const there = await readdir(out).catch((): string[] => []);
  const names = files.filter((name) => there.includes(name));
  return names.length === 0
    ? []
    : [`  ${'files'.padEnd(12)} ${relative(cwd, out) || '.'}: ${names.join(', ')}`];
}
