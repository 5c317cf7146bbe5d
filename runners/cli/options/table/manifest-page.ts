import { file, folder, ofRun, type TablePage } from './table-row.js';

const ofRows = { commands: ofRun, isPlanned: true } as const;
const ofManifest = { ...ofRows, isOfManifest: true } as const;

/** Options for the manifest, the selected rows and the run's folder. */
export const manifestPage = {
  heading: 'The manifest and its folder:',
  rows: {
    out: {
      ...folder,
      meaning: 'output folder, and so the run',
      otherwise: 'edits.out beside edits.csv',
      commands: {
        ...ofRun,
        worker: { meaning: "with --db embedded: the run's folder, where its database is" },
      },
      isOnce: true,
    },
    add: {
      meaning: 'add these rows to the run in the folder, which is of another manifest',
      commands: ofRun,
      isOnce: true,
      isChoice: true,
    },
    format: {
      ...ofManifest,
      takes: 'FORMAT',
      value: (values) => values.oneOf('csv', 'jsonl'),
      meaning: 'csv or jsonl, if the file name does not show it',
    },
    delimiter: {
      ...ofManifest,
      takes: 'SIGN',
      value: (values) => values.delimiter(),
      meaning: 'the separator of a CSV: comma, semicolon, tab, bar',
      otherwise: 'found by the first line',
      config: 'text',
    },
    set: {
      ...ofManifest,
      takes: 'NAME=VALUE',
      value: (values) => values.pairs('NAME=VALUE'),
      meaning: 'set a field in every row that does not have it; {{column}} is filled from the row',
      repeats: true,
      fallback: [],
    },
    map: {
      ...ofManifest,
      takes: 'NAME=COLUMN',
      value: (values) => values.pairs('NAME=COLUMN'),
      meaning: 'read a field from a column of another name',
      repeats: true,
      fallback: [],
    },
    each: {
      ...ofManifest,
      takes: 'NAME=VALUES',
      value: (values) => values.axes(),
      meaning: 'make one row for each value of a column: style=oil,ink; several options multiply',
      repeats: true,
      fallback: [],
    },
    axes: {
      ...file,
      ...ofManifest,
      meaning: 'like --each, from a CSV with the columns axis and value',
    },
    repeat: {
      ...ofManifest,
      takes: 'N',
      value: (values) => values.wholeNumber(1, 1000),
      meaning: 'send each row N times',
      otherwise: '1',
    },
    ignore: {
      ...ofRows,
      takes: 'NAME',
      value: (values) => values.listOf(values.named('column')),
      meaning: 'treat a column as your own although it looks like a misspelt field',
      repeats: true,
      fallback: [],
      config: 'text',
    },
    kind: {
      ...ofRows,
      takes: 'KIND',
      value: (values) => values.oneOf('edit', 'job', 'route'),
      meaning: 'edit, job or route',
      otherwise: 'from the columns',
    },
    mode: {
      ...ofRows,
      takes: 'MODE',
      value: (values) => values.oneOf('sync', 'async'),
      meaning: 'sync (/runsync) or async (/run and polling)',
      otherwise: 'edits sync, jobs async',
    },
    limit: {
      ...ofRows,
      takes: 'N',
      value: (values) => values.wholeNumber(1, Number.MAX_SAFE_INTEGER),
      meaning: 'only the first N of the rows to do',
      isOnce: true,
      isChoice: true,
    },
    only: {
      ...ofRows,
      takes: 'IDS',
      value: (values) => values.names(),
      meaning: 'only these rows: ids, or column=value, separated by commas',
      repeats: true,
      isOnce: true,
      isChoice: true,
    },
    skipInvalid: {
      ...ofManifest,
      meaning: 'record invalid rows as failures instead of refusing the manifest',
      isChoice: true,
    },
  },
} as const satisfies TablePage;
