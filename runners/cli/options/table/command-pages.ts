import { file, folder, ofRun, setting, type TablePage } from './table-row.js';

/** It concerns the end of one start. */
const atTheEnd = { ...setting, isOnce: true } as const;

/** Options of a start that are not about its manifest. */
export const startPage = {
  rows: {
    check: {
      meaning: 'test the key, each endpoint and each reference picture, by requests that cost nothing',
      commands: { plan: true },
    },
    save: {
      ...file,
      meaning: 'save the plan, so that run --plan FILE does exactly this',
      commands: { plan: true },
    },
    follow: {
      meaning: 'with -: run the rows of an endless NDJSON stdin as they arrive; their results go to stdout',
      commands: { ...ofRun, plan: { meaning: 'with -: plan the NDJSON rows of stdin, up to its end' } },
      isOnce: true,
    },
    plan: {
      ...file,
      meaning: 'do exactly what a saved plan contains, or nothing if something has changed',
      commands: {
        run: true,
        plan: { meaning: 'take manifest and options from a saved plan, and compare with it' },
      },
      isOnce: true,
    },
    db: {
      takes: 'URL|embedded',
      value: (values) => values.database(),
      meaning: 'run over many machines: workers (millrace worker) take the rows from PostgreSQL',
      commands: {
        ...ofRun,
        plan: { unused: true },
        worker: { meaning: 'the database of the runs: postgres://…, or embedded in the folder --out' },
      },
    },
    metricsFile: {
      ...file,
      meaning: "write metrics for Prometheus' textfile collector, every 10 s and at the end",
      commands: { ...ofRun, plan: { unused: true } },
      isOnce: true,
    },
  },
} as const satisfies TablePage;

/** Databases, machines and ports of the other commands. */
export const machinePage = {
  rows: {
    db: {
      takes: 'URL',
      value: (values) => values.database(),
      meaning: 'the database of a run over many machines',
      otherwise: 'the one noted in its folder',
      commands: { status: true, settle: true },
    },
    artifacts: {
      ...folder,
      meaning: "the run's folder, if this machine shares it: the worker saves pictures there",
      commands: { worker: true },
    },
    slots: {
      takes: 'N',
      value: (values) => values.wholeNumber(1, 10_000),
      meaning: 'the most rows of a run in flight at this worker',
      otherwise: 'the concurrency of the run',
      commands: { worker: true },
    },
    port: {
      takes: 'N',
      value: (values) => values.wholeNumber(0, 65_535),
      meaning: 'port to listen on',
      otherwise: 'any free one',
      commands: { serve: true, watch: true },
    },
    key: {
      takes: 'KEY',
      value: (values) => values.named('key'),
      meaning: 'the API key that it accepts',
      otherwise: 'millrace-emulator-key',
      commands: { serve: true },
    },
  },
} as const satisfies TablePage;

const inJson = 'as one JSON object on stdout';

/** Options about what is printed, and who learns of a start's end. */
export const printPage = {
  heading: 'What is printed and reported:',
  rows: {
    onEnd: {
      ...atTheEnd,
      takes: 'CMD',
      value: (values) => values.named('command'),
      meaning: 'run a shell command when the start has ended (it gets MILLRACE_OUT, MILLRACE_EXIT_CODE, …)',
    },
    onHold: {
      ...atTheEnd,
      takes: 'CMD',
      value: (values) => values.named('command'),
      meaning: 'run a shell command when rows are in doubt and a person has to decide',
    },
    notify: {
      ...atTheEnd,
      takes: 'URL',
      value: (values) => values.notifyUrl(),
      meaning: 'post the summary to a URL when the start has ended, signed with MILLRACE_NOTIFY_SECRET',
      isSecretAddress: true,
    },
    quiet: {
      meaning: 'print only what needs a person',
      commands: { ...ofRun, worker: true, refetch: true },
      isOnce: true,
    },
    json: {
      meaning: `the result ${inJson}, everything else on stderr`,
      commands: {
        ...ofRun,
        refetch: { meaning: `the summary ${inJson}, everything else on stderr` },
        status: { meaning: inJson },
        reconcile: { meaning: inJson },
        pick: { meaning: inJson },
      },
      isOnce: true,
    },
    profile: {
      meaning: 'write a CPU profile of this process, as a .cpuprofile for speedscope or Chrome',
      commands: { ...ofRun, status: true, report: true },
    },
  },
} as const satisfies TablePage;
