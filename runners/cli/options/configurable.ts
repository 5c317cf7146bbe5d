import type { RunOptions } from './start-options.js';

/** The options that a configuration file may set, as it calls them. None of them sends anything again, or agrees to a price. */
export const configurable = [
  ...([
    'endpoint',
    'base_url',
    'lb_base_url',
    'api_key_file',
    'images_base',
    'upload',
    'upload_endpoint',
  ] as const),
  ...(['delimiter', 'ignore', 'same'] as const),
  ...([
    'concurrency',
    'downloads',
    'rate',
    'http',
    'runsync_timeout',
    'timeout',
    'retries',
    'poll_cost',
  ] as const),
  ...([
    'max_cost',
    'max_cost_per_day',
    'ledger',
    'prices',
    'assume_price',
    'max_price_drift',
    'halt',
  ] as const),
] as const;
export type Configurable = (typeof configurable)[number];

/** Settings that are paths: they begin where the file lies. */
export const paths: ReadonlySet<Configurable> = new Set(['api_key_file', 'ledger', 'prices'] as const);

/** Settings of which there may be several: a list, or one text. */
export const lists: ReadonlySet<Configurable> = new Set(['ignore'] as const);

/** What comes before a configuration file and behind the command line. */
export const variables: Partial<Record<Configurable, string>> = {
  base_url: 'MILLRACE_BASE_URL',
  lb_base_url: 'MILLRACE_LB_BASE_URL',
  api_key_file: 'MILLRACE_API_KEY',
  upload_endpoint: 'AWS_ENDPOINT_URL_S3',
};

/** What `--local` has of its own. */
export const notLocal: ReadonlySet<Configurable> = new Set([
  ...(['base_url', 'lb_base_url', 'api_key_file', 'images_base', 'upload', 'upload_endpoint'] as const),
]);

type Camel<T extends string> = T extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : T;

/** `max_cost` → `maxCost`. */
export function optionOf<N extends Configurable>(name: N): Camel<N> & keyof RunOptions {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as Camel<N> &
    keyof RunOptions;
}
