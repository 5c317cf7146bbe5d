import type { TablePage } from './table-row.js';

const named = { settle: true, reconcile: true } as const;

/** Options for settling, billing exports, `init` and reports. */
export const settlePage = {
  rows: {
    job: {
      takes: 'ID',
      value: (values) => values.jobId(),
      meaning: 'it was accepted as this job, which is looked up first: the next start polls it',
      commands: { settle: true },
    },
    paid: {
      takes: 'USD',
      value: (values) => values.usd(),
      meaning: 'it was accepted and cost this much; its result is given up',
      commands: { settle: true },
    },
    notSent: {
      meaning: 'it never reached the service: the next start sends it',
      commands: { settle: true },
    },
    undo: {
      meaning: 'take back --job or --not-sent before the next start: the rows are in doubt again',
      commands: { settle: true },
    },
    attempt: {
      takes: 'N',
      value: (values) => values.wholeNumber(1, 65_535),
      meaning: 'settle attempt N of a row that is or was bought again',
      commands: { settle: true },
    },
    statement: {
      takes: 'FILE',
      value: (values) => values.named('file'),
      meaning: 'settle as a billing export (CSV) suggests, after a question',
      commands: {
        settle: true,
        reconcile: { required: true, meaning: 'the export: a CSV with a line for each charge' },
      },
    },
    jobColumn: {
      takes: 'NAME',
      value: (values) => values.named('column'),
      meaning: "the export's column with the job id",
      otherwise: 'found by usual names',
      commands: named,
    },
    amountColumn: {
      takes: 'NAME',
      value: (values) => values.named('column'),
      meaning: 'its column with the amount in USD',
      otherwise: 'found by usual names',
      commands: named,
    },
    timeColumn: {
      takes: 'NAME',
      value: (values) => values.named('column'),
      meaning: 'its column with the time, if it has one',
      otherwise: 'found by usual names',
      commands: named,
    },
    yes: {
      meaning: 'do not ask; also settle on a job that the service does not know',
      commands: { settle: true },
    },
    prompt: {
      takes: 'TEXT',
      value: (values) => values.text(),
      meaning: 'the prompt for each picture',
      commands: { init: { required: true } },
    },
    out: {
      takes: 'FILE',
      value: (values) => values.named('file'),
      meaning: 'the manifest',
      otherwise: 'edits.csv in the folder',
      commands: { init: true },
    },
    fetchReferences: {
      meaning: 'save small copies of reference pictures on the web, to show them; needs sharp',
      commands: { report: true },
    },
    to: {
      takes: 'DIR',
      value: (values) => values.named('folder'),
      meaning: 'the folder of the copies',
      otherwise: 'chosen in the folder of the run',
      commands: { pick: true },
    },
  },
} as const satisfies TablePage;
