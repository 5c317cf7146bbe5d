import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first: begun last, one of them would keep one core busy long after the other is done. */
const longest = [
  'simulate/crash-points',
  'simulate/random-schedules',
  'runners/report/page/accessible',
  'runners/report/page/report-page',
  'runners/batch/fault-matrix',
  'runners/cli/commands/run-money',
  'runners/cli/commands/run-exit-codes',
  'runners/cli/commands/run',
  'runners/distributed/collector/run-distributed',
  'runners/distributed/collector/damaged-tables',
  'runners/distributed/worker/database-away',
  'runners/cli/commands/run-stopping',
  'runners/cli/commands/settle',
  'runners/distributed/callbacks/called-back',
  'runners/batch/run/called-back',
  'src/transport/stray-replies',
  'runners/cli/commands/rehearsal-advice',
  'runners/distributed/collector/caps-of-values',
  'crash/kill-rounds',
  'crash/distributed/distributed-rounds',
  'runners/distributed/journal-of-run',
  'docs/examples',
  'runners/report/watch/watch-run',
  'runners/batch/run-batch',
  'src/policy/gates/found-rate',
  'src/transport/transport',
  'samples/samples',
];

/** Files that have a process of their own, then the long ones, then the rest in the order of their paths. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = new Map(files.map((file) => [file, placeOf(file)]));
    return files.toSorted(
      (one, other) => place.get(one)! - place.get(other)! || one.moduleId.localeCompare(other.moduleId),
    );
  }
}

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  if (project.name === 'alone') return -1;
  return place < 0 ? longest.length : place;
}
