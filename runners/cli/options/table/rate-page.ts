import { notOfPlan, ofRun, type TablePage } from './table-row.js';

/** A limit beyond the lifetime of any job would limit nothing. */
const longestMs = 30 * 86_400_000;

/** Options for rows and requests at once, and for time limits. */
export const ratePage = {
  heading: 'Rate and limits:',
  rows: {
    concurrency: {
      takes: 'N|auto',
      value: (values) => values.wordOr('auto', values.wholeNumber(1, 10_000)),
      meaning: 'rows in flight; auto finds out, from 4 to 100',
      otherwise: 'auto where rows are async, else 8',
      commands: notOfPlan,
      config: 'text',
    },
    downloads: {
      takes: 'N',
      value: (values) => values.wholeNumber(1, 1000),
      meaning: 'pictures being saved at once',
      fallback: '4',
      commands: { ...notOfPlan, refetch: true },
      config: 'text',
    },
    rate: {
      takes: 'N|runpod',
      value: (values) => values.wordOr('runpod', values.rate()),
      meaning: 'requests a second, all rows together, or the published limits',
      otherwise: 'found out after a 429',
      commands: notOfPlan,
      config: 'text',
    },
    http: {
      takes: 'CLIENT',
      value: (values) => values.oneOf('got', 'undici'),
      meaning: 'got, or undici, which takes a quarter of the CPU and is installed separately',
      fallback: 'got',
      commands: { ...notOfPlan, worker: true },
      config: 'text',
    },
    runsyncTimeout: {
      takes: 'D',
      value: (values) => values.duration(1, longestMs),
      meaning: 'client timeout of /runsync; past it with no id a row is unknown',
      fallback: '60s',
      commands: notOfPlan,
      config: 'text',
    },
    timeout: {
      takes: 'D',
      value: (values) => values.duration(1, longestMs),
      meaning: 'limit of one row, from when it is taken up to its end; waiting for --rate counts',
      fallback: '1h',
      commands: notOfPlan,
      config: 'text',
    },
    retries: {
      takes: 'N',
      value: (values) => values.wholeNumber(0, 1000),
      meaning: 'extra tries of what is safe to try again',
      fallback: '4',
      commands: { ...notOfPlan, refetch: { meaning: 'extra tries of each' } },
      config: 'text',
    },
    lowPriority: {
      meaning: 'async rows wait at the service behind all jobs that do not say so',
      commands: ofRun,
      config: 'text',
    },
    webhookUrl: {
      takes: 'URL',
      value: (values) => values.host(),
      meaning:
        'where the service calls back about async rows, which spares their status calls; a proxy of yours ends TLS there',
      commands: notOfPlan,
      config: 'text',
    },
    webhookListen: {
      takes: 'HOST:PORT',
      value: (values) => values.address(),
      meaning: 'where callbacks are taken; with --local the emulator calls here',
      otherwise: '127.0.0.1:8787 with --webhook-url',
      commands: {
        ...notOfPlan,
        worker: { meaning: 'where this worker takes callbacks about rows of any worker' },
      },
      config: 'text',
    },
    pollCost: {
      takes: 'D',
      value: (values) => values.duration(1, 3_600_000),
      meaning: 'how much later an answer may be noticed to save one status call',
      fallback: '190ms',
      commands: notOfPlan,
      config: 'text',
    },
  },
} as const satisfies TablePage;
