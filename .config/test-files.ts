/** Which test files run where. Paths are globs from the project's folder. */

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
  'test/runners/batch/run/{crash,large-journal}.test.ts',
  'test/runners/batch/lock/*.process.test.ts',
  'test/runners/batch/journal/*.process.test.ts',
  'test/runners/batch/journal/snapshot/snapshot.test.ts',
  'test/runners/batch/fault-matrix.test.ts',
  'test/runners/batch/ledger/*.process.test.ts',
  'test/runners/report/page/{accessible,by-value,one-design,report-page,report-look,layout,review/{review-work,variants,axes-work}}.test.ts',
  'test/runners/report/{redo-run,write-report}.test.ts',
  'test/runners/report/watch/watch-run.test.ts',
  'test/runners/cli/commands/{watch-live,run-stopping,run-terminal,matrix-of-a-person,{value-caps,webhooks}-killed}.test.ts',
  'test/runners/distributed/callbacks/*.test.ts',
  'test/runners/distributed/collector/{run-distributed,collector-options,expired-jobs,money-apart,saved-files,silent-worker}.test.ts',
  'test/runners/distributed/worker/{database-away,dead-workers,shared-limits}.test.ts',
  'test/runners/distributed/embedded/*.test.ts',
  'test/runners/distributed/journal-of-run.test.ts',
];
