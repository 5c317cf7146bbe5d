import { readdir } from 'node:fs/promises';
import { relative } from 'node:path';
import type { RunEvent } from '../../batch/run-batch.js';
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
 * Says how a run ended: one sentence, the figures, the failures by cause, and where the files are; with `--json` the
 * summary on stdout; with `--quiet` nothing at all of a run that needs nobody. Returns the exit code.
 */
export async function tellOutcome(
  run: StartedRun,
  finished: Finished,
  groups: readonly FailureGroup[],
): Promise<number> {
  const { io, options, out } = run;
  const { exitCode, summary } = finished;
  const sentence = plainText(finished.reason, 2000);
  if (options.json) io.stdout.write(`${JSON.stringify(summary)}\n`);
  const text = [sentence, ...outcomeText(summary), ...failureText(groups), ...(await filesText(out, io.cwd))];
  if (options.quiet) {
    if (exitCode !== 0) io.stderr.write(`${[sentence, ...failureText(groups)].join('\n')}\n`);
  } else {
    (options.json ? io.stderr : io.stdout).write(`${text.join('\n')}\n`);
    if (!options.json && io.stdout.isTTY !== true) io.stderr.write(`${sentence}\n`);
  }
  return exitCode;
}

async function filesText(out: string, cwd: string): Promise<string[]> {
  const there = await readdir(out).catch((): string[] => []);
  const names = files.filter((name) => there.includes(name));
  return names.length === 0
    ? []
    : [`  ${'files'.padEnd(12)} ${relative(cwd, out) || '.'}: ${names.join(', ')}`];
}
