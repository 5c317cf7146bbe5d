import { host, notOfPlan, ofRun, setting, type TablePage } from './table-row.js';

/** The maximum of time limits: no job lives longer. */
const longestMs = 30 * 86_400_000;

/** Options about how many rows and requests run at once, and about time limits. */
export const ratePage = {
  heading: 'Rate and limits:',
  rows: {
    concurrency: {
      ...setting,
      takes: 'N|auto',
      value: (values) => values.wordOr('auto', values.wholeNumber(1, 10_000)),
      meaning: 'rows in flight; auto finds the number, from 4 to 100',
      otherwise: 'auto for async rows, else 8',
    },
    downloads: {
      takes: 'N',
      value: (values) => values.wholeNumber(1, 1000),
      meaning: 'pictures saved at once',
      fallback: '4',
      commands: { ...notOfPlan, refetch: true },
      config: 'text',
    },
    rate: {
      ...setting,
      takes: 'N|runpod',
      value: (values) => values.wordOr('runpod', values.rate()),
      meaning: 'requests a second for all rows together, or the published limits',
      otherwise: 'found out after a 429',
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
      ...setting,
      takes: 'D',
      value: (values) => values.duration(1, longestMs),
      meaning: 'client timeout of /runsync; a row without an answer by then is unknown',
      fallback: '60s',
    },
    timeout: {
      ...setting,
      takes: 'D',
      value: (values) => values.duration(1, longestMs),
      meaning: 'time limit of one row, from its start to its end, waiting for --rate included',
      fallback: '1h',
    },
    retries: {
      takes: 'N',
      value: (values) => values.wholeNumber(0, 1000),
      meaning: 'extra tries of requests that are safe to send again',
      fallback: '4',
      commands: { ...notOfPlan, refetch: { meaning: 'extra tries of each' } },
      config: 'text',
    },
    lowPriority: {
      meaning: 'async rows wait at the service behind all other jobs',
      commands: ofRun,
      config: 'text',
    },
    webhookUrl: {
      ...host,
      ...setting,
      meaning:
        'where the service calls back about async rows, which saves their status calls; your proxy terminates TLS there',
    },
    webhookListen: {
      takes: 'HOST:PORT',
      value: (values) => values.address(),
      meaning: 'where the run listens for callbacks; with --local the emulator calls it',
      otherwise: '127.0.0.1:8787 with --webhook-url',
      commands: {
        ...notOfPlan,
        worker: { meaning: 'where this worker listens for callbacks, about rows of any worker' },
      },
      config: 'text',
    },
    pollCost: {
      ...setting,
      takes: 'D',
      value: (values) => values.duration(1, 3_600_000),
      meaning: 'how much delay in noticing an answer is worth one status call',
      fallback: '190ms',
    },
  },
} as const satisfies TablePage;
