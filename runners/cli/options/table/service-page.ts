import { host, notOfPlan, ofRun, type TablePage } from './table-row.js';

const emulator = { ...notOfPlan, serve: true } as const;
const ofService = { commands: ofRun, config: 'text', isOfService: true, isPlanned: true } as const;

/** Options about the service that rows are sent to, and the emulator of a rehearsal. */
export const servicePage = {
  heading: 'Where rows go:',
  rows: {
    endpoint: {
      takes: 'ID',
      value: (values) => values.endpoint(),
      meaning: 'queue or image-edit endpoint, for rows without a column "endpoint"',
      commands: ofRun,
      config: 'text',
      isPlanned: true,
      isOfManifest: true,
    },
    baseUrl: {
      ...host,
      meaning: 'host of the queue API',
      commands: {
        ...ofRun,
        worker: { meaning: 'host of the queue API: the worker serves runs against this host' },
        settle: { meaning: 'host of the queue API, to look the job up' },
      },
      config: 'text',
      variable: 'MILLRACE_BASE_URL',
      isOfService: true,
      isPlanned: true,
      isOnce: true,
    },
    lbBaseUrl: {
      ...host,
      meaning: 'host of the routes',
      commands: { ...ofRun, worker: true },
      config: 'text',
      variable: 'MILLRACE_LB_BASE_URL',
      isOfService: true,
      isPlanned: true,
      isOnce: true,
    },
    apiKeyFile: {
      takes: 'FILE',
      value: (values) => values.text(),
      meaning: 'file with the API key',
      commands: { ...ofRun, worker: true, settle: { meaning: 'file with the API key, to look the job up' } },
      config: 'path',
      variableInstead: 'MILLRACE_API_KEY',
      isOfService: true,
    },
    imagesBase: {
      ...ofService,
      takes: 'URL',
      value: (values) => values.imagesBase(),
      meaning: 'the web address of pictures that rows name by path: they are sent as URLs below it',
    },
    upload: {
      ...ofService,
      takes: 'S3URL',
      value: (values) => values.uploadTarget(),
      meaning: 'upload pictures that rows name by path: s3://bucket/prefix, with AWS credentials',
    },
    uploadEndpoint: {
      ...host,
      ...ofService,
      meaning: 'host of an S3-compatible store',
      otherwise: 'AWS',
      variable: 'AWS_ENDPOINT_URL_S3',
    },
    local: {
      meaning: 'start the emulator in this process and use it: nothing is bought',
      commands: ofRun,
      isOnce: true,
      isPlanned: true,
    },
  },
} as const satisfies TablePage;

/** The options of the emulator, for `--local` and `serve`. */
export const emulatorPage = {
  heading: servicePage.heading,
  rows: {
    functions: {
      takes: 'FILE',
      value: (values) => values.named('module'),
      meaning: 'emulator: a module that exports the functions of its endpoints and routes',
      commands: emulator,
    },
    workers: {
      takes: 'N',
      value: (values) => values.wholeNumber(1, 1000),
      meaning: 'emulator: jobs at once on each endpoint',
      otherwise: '4',
      commands: emulator,
    },
    latency: {
      takes: 'TIMES',
      value: (values) => values.latency(),
      meaning: 'emulator: how long work takes: 200ms, uniform:100-300, lognormal:8s:0.4 …',
      otherwise: '0',
      commands: emulator,
    },
    faults: {
      takes: 'LIST',
      value: (values) => values.faults(),
      meaning: 'emulator: faults by probability: 429=0.1:2,cut@status=0.05 …',
      commands: emulator,
    },
    rateLimit: {
      takes: 'N',
      value: (values) => values.rateLimit(),
      meaning: 'emulator: answer 429 above this many requests a second',
      commands: emulator,
    },
    seed: {
      takes: 'N',
      value: (values) => values.wholeNumber(0, 4_294_967_295),
      meaning: 'emulator: seed of its random numbers',
      otherwise: '1',
      commands: emulator,
    },
  },
} as const satisfies TablePage;
