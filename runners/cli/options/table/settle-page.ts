import type { OptionValues } from '../option-value.js';
import { file, folder, usd, type TablePage } from './table-row.js';

/** A column of a billing export. */
const column = {
  takes: 'NAME',
  value: (values: OptionValues) => values.named('column'),
  commands: { settle: true, reconcile: true },
} as const;
const otherwise = 'found by usual names';

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
      ...usd,
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
      ...file,
      meaning: 'settle as a billing export (CSV) suggests, after a question',
      commands: {
        settle: true,
        reconcile: { required: true, meaning: 'the export: a CSV with a line for each charge' },
      },
    },
    jobColumn: {
      ...column,
      meaning: "the export's column with the job id",
      otherwise,
    },
    amountColumn: {
      ...column,
      meaning: 'its column with the amount in USD',
      otherwise,
    },
    timeColumn: {
      ...column,
      meaning: 'its column with the time, if it has one',
      otherwise,
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
      ...file,
      meaning: 'the manifest',
      otherwise: 'edits.csv in the folder',
      commands: { init: true },
    },
    fetchReferences: {
      meaning: 'save small copies of reference pictures on the web, to show them; needs sharp',
      commands: { report: true },
    },
    to: {
      ...folder,
      meaning: 'the folder of the copies',
      otherwise: 'chosen in the folder of the run',
      commands: { pick: true },
    },
  },
} as const satisfies TablePage;
