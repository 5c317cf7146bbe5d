/** Which test files run where. Paths are globs from the project's folder. */
import { relative } from 'node:path';

/**
 * Files that need a process of their own: nock takes the place of Node's http for good, heaps and handles are counted.
 * All others share a process with what they import.
 */
export const alone = {
  short: [
    'test/src/transport/got-{transport,download}.test.ts',
    'test/src/endpoints/wire.test.ts',
    'test/src/operators/purchase/create-job.wire.test.ts',
  ],
  long: ['test/runners/batch/run/flat-memory.test.ts', 'test/bench/**/*.test.ts'],
};

/**
 * Long rounds, of `npm run test:long`: all crash points and schedules, kills of processes, databases that go away, pages in
 * a browser, samples from end to end. `npm test` runs all other files, so that it can be run after each change.
 */
export const long = [
  'test/simulate/**/*.test.ts',
  'test/crash/**/*.test.ts',
  'test/samples/**/*.test.ts',
  'test/package/*.test.ts',
  'test/runners/batch/run/{called-back,crash,large-journal}.test.ts',
  'test/runners/batch/lock/*.process.test.ts',
  'test/runners/batch/journal/*.process.test.ts',
  'test/runners/batch/journal/snapshot/snapshot.test.ts',
  'test/runners/batch/fault-matrix.test.ts',
  'test/runners/batch/ledger/*.process.test.ts',
  'test/runners/report/page/{accessible,by-value,early-keys,one-design,report-page,report-look,layout,saved-files,review/{review-work,variants,axes-work}}.test.ts',
  'test/runners/report/{redo-run,write-report}.test.ts',
  'test/runners/report/watch/watch-run.test.ts',
  'test/runners/cli/commands/{watch-live,run-stopping,run-terminal,matrix-of-a-person,small-heap,{redo,value-caps,webhooks}-killed}.test.ts',
  'test/runners/distributed/callbacks/*.test.ts',
  'test/runners/distributed/collector/{caps-of-values,collector-options,damaged-folder,damaged-tables,database-put-back,expired-jobs,limits-over-workers,long-rows,money-apart,run-distributed,saved-files,silent-worker,stop-while-away}.test.ts',
  'test/runners/distributed/worker/{database-away,dead-workers,shared-limits}.test.ts',
  'test/runners/distributed/database/silent-database.test.ts',
  'test/runners/distributed/embedded/*.test.ts',
  'test/runners/distributed/journal-of-run.test.ts',
];

/** Globs of the files of a test run: those that share a process, without `left`, and those that have one of their own. */
export interface TestPart {
  readonly together: readonly string[];
  readonly left: readonly string[];
  readonly alone: readonly string[];
}

/** `npm test` runs the short files, `npm run test:long` the long ones, `npm run coverage` all. */
const parts: Readonly<Record<string, TestPart>> = {
  short: {
    together: ['test/**/*.test.ts'],
    left: [...long, ...alone.short, ...alone.long],
    alone: alone.short,
  },
  long: { together: long, left: alone.long, alone: alone.long },
  all: {
    together: ['test/**/*.test.ts'],
    left: [...alone.short, ...alone.long],
    alone: [...alone.short, ...alone.long],
  },
};

/**
 * The files of a test run. A file that is named by its name runs, whichever part it belongs to. Of a folder only the files
 * of the part run; `leftOut` are its others.
 *
 * @param filters what stands behind the command, as vitest reads it
 * @param files all test files, by paths from the project's folder
 */
export function partOf(
  name: string,
  filters: readonly string[],
  files: readonly string[],
): TestPart & { readonly leftOut: readonly string[] } {
  const part = parts[name];
  if (part === undefined)
    throw new Error(`MILLRACE_TESTS is ${name}, and not one of ${Object.keys(parts).join(', ')}`);
  const named = files.filter((file) => filters.some((filter) => isOneFile(filter) && isIn(filter, file)));
  const ofPart = files.filter(
    (file) => matches(part.alone, file) || (matches(part.together, file) && !matches(part.left, file)),
  );
  const running = new Set([...ofPart, ...named]);
  const leftOut = files.filter((file) => !running.has(file) && filters.some((filter) => isIn(filter, file)));
  if (named.length === 0) return { ...part, leftOut };
  const isAlone = (file: string): boolean => matches([...alone.short, ...alone.long], file);
  return {
    together: [...running].filter((file) => !isAlone(file)),
    left: [],
    alone: [...running].filter(isAlone),
    leftOut,
  };
}

const lineNumber = /:\d+$/;

function isOneFile(filter: string): boolean {
  return filter.replace(lineNumber, '').endsWith('.test.ts');
}

/** As vitest compares them. */
function isIn(filter: string, file: string): boolean {
  const path = filter.replace(lineNumber, '').toLowerCase();
  const name = file.toLowerCase();
  return name.includes(path) || name.includes(relative('', path));
}

function matches(globs: readonly string[], file: string): boolean {
  return globs.some((glob) => expressionOf(glob).test(file));
}

function expressionOf(glob: string): RegExp {
  const signs: Readonly<Record<string, string>> = {
    '**/': '(?:.*/)?',
    '*': '[^/]*',
    '{': '(?:',
    '}': ')',
    ',': '|',
    '.': '\\.',
  };
  return new RegExp(`^${glob.replace(/\*\*\/|[*{},.]/g, (sign) => signs[sign] ?? sign)}$`);
}
