import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first: begun last, one of them would keep one core busy long after the other is done. */
const longest = [
  'simulate/crash-points',
  'simulate/random-schedules',
  'simulate/fleet/random-fleets',
  'simulate/disk-faults',
  'simulate/fleet/dead-worker',
  'runners/report/page/accessible',
  'runners/report/page/report-page',
  'runners/batch/fault-matrix',
  'runners/distributed/collector/run-distributed',
  'runners/distributed/collector/damaged-tables',
  'runners/distributed/worker/database-away',
  'runners/cli/commands/run-stopping',
  'runners/distributed/callbacks/called-back',
  'runners/batch/run/called-back',
  'runners/distributed/collector/caps-of-values',
  'crash/kill-rounds',
  'crash/distributed/distributed-rounds',
  'runners/distributed/journal-of-run',
  'runners/report/watch/watch-run',
  'samples/samples',
  'runners/cli/commands/settle',
  'runners/batch/run/bought-elsewhere',
  'runners/cli/commands/run-money',
  'docs/examples',
  'runners/cli/commands/run-follow',
  'runners/distributed/database/tls',
  'runners/batch/artifacts/download-at-next-start',
  'src/transport/stray-replies',
  'runners/batch/sinks/projections',
  'runners/batch/row/value-costs',
  'runners/cli/commands/rehearsal-advice',
  'runners/batch/run/lost-journal',
  'runners/cli/commands/save-output',
  'runners/cli/commands/run-exit-codes',
  'runners/cli/commands/run',
  'runners/distributed/collector/failing-collector',
  'runners/batch/run/kept-check',
  'runners/batch/run/check-ahead',
  'runners/batch/run-batch',
  'runners/distributed/strange-service',
  'runners/emulator/queue/add-queue-calls',
  'runners/emulator/http/add-route-calls',
  'runners/emulator/edit/create-edit-function',
  'shape/six-vocabularies',
  'src/transport/transport',
  'src/policy/gates/found-rate',
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
