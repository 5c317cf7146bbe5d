import { notOfPlan, ofRun, type TablePage } from './table-row.js';

/** Options of a start besides its manifest. */
export const startPage = {
  rows: {
    check: {
      meaning: 'test the key, each endpoint and each reference picture, by requests that cost nothing',
      commands: { plan: true },
    },
    save: {
      takes: 'FILE',
      value: (values) => values.named('file'),
      meaning: 'keep the plan, so that run --plan FILE does exactly that',
      commands: { plan: true },
    },
    follow: {
      meaning: 'with -: do the rows of an endless NDJSON stdin as they arrive; their results go to stdout',
      commands: { ...ofRun, plan: { meaning: 'with -: plan the NDJSON of stdin, which has to end' } },
      isOnce: true,
    },
    plan: {
      takes: 'FILE',
      value: (values) => values.named('file'),
      meaning: 'do exactly what a saved plan contains, or nothing where something has changed',
      commands: {
        run: true,
        plan: { meaning: 'take manifest and options from a saved plan, and compare with it' },
      },
      isOnce: true,
    },
    db: {
      takes: 'URL|embedded',
      value: (values) => values.database(),
      meaning: 'over many machines: workers do the rows, PostgreSQL is between (millrace worker)',
      commands: {
        ...ofRun,
        plan: { unused: true },
        worker: { meaning: 'the database of the runs: postgres://…, or embedded in the folder --out' },
      },
    },
    metricsFile: {
      takes: 'FILE',
      value: (values) => values.named('file'),
      meaning: "figures for Prometheus' textfile collector, every 10 s and at the end",
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
      otherwise: 'as its folder notes it',
      commands: { status: true, settle: true },
    },
    artifacts: {
      takes: 'DIR',
      value: (values) => values.named('folder'),
      meaning: "the run's folder, where this machine shares it: pictures are saved from here",
      commands: { worker: true },
    },
    slots: {
      takes: 'N',
      value: (values) => values.wholeNumber(1, 10_000),
      meaning: 'rows of a run in flight at this worker at most',
      otherwise: 'as many as the run has',
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
      meaning: 'the API key that it takes',
      otherwise: 'millrace-emulator-key',
      commands: { serve: true },
    },
  },
} as const satisfies TablePage;

const inJson = 'as one JSON object on stdout';

/** What is printed. */
export const printPage = {
  heading: 'What is printed:',
  rows: {
    onEnd: {
      takes: 'CMD',
      value: (values) => values.named('command'),
      meaning: 'call it through the shell when the start has ended (MILLRACE_OUT, MILLRACE_EXIT_CODE, …)',
      commands: notOfPlan,
      config: 'text',
      isOnce: true,
    },
    onHold: {
      takes: 'CMD',
      value: (values) => values.named('command'),
      meaning: 'the same where rows are in doubt and a person has to decide',
      commands: notOfPlan,
      config: 'text',
      isOnce: true,
    },
    notify: {
      takes: 'URL',
      value: (values) => values.notifyUrl(),
      meaning: 'post the summary there when the start has ended, signed by MILLRACE_NOTIFY_SECRET',
      commands: notOfPlan,
      config: 'text',
      isSecretAddress: true,
      isOnce: true,
    },
    quiet: {
      meaning: 'only what needs a person',
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
      meaning: 'write where the CPU time of this process goes, as a .cpuprofile for speedscope or Chrome',
      commands: { ...ofRun, status: true, report: true },
    },
  },
} as const satisfies TablePage;
