import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { createPriceBook } from '../../../../runners/batch/formats.js';
import type { RunBatchOptions } from '../../../../runners/batch/internal.js';
import {
  addOptions,
  configurableOptions,
  flagOf,
  noFlagOf,
  settingOf,
  type OptionsOf,
} from '../../../../runners/cli/options/option-table.js';
import { loadConfig } from '../../../../runners/cli/options/load-config.js';
import { startOptions, type RunOptions } from '../../../../runners/cli/options/parse-options.js';
import { batchOptions, type StartedRun } from '../../../../runners/cli/start/batch-options.js';
import type { RunTerms } from '../../../../runners/distributed/table/run-terms.js';

type Name = keyof OptionsOf<'run'>;

/** A value of each option that is not its default, as the command line has it; a switch is turned. The compiler asks for each. */
const given = {
  follow: true,
  plan: 'edits.plan',
  db: 'embedded',
  metricsFile: 'run.prom',
  endpoint: 'photo',
  baseUrl: 'https://api.test',
  lbBaseUrl: 'https://lb.test',
  apiKeyFile: 'key.txt',
  imagesBase: 'https://pictures.test/',
  upload: 's3://bucket/prefix',
  uploadEndpoint: 'https://s3.test',
  local: true,
  functions: 'functions.js',
  workers: '3',
  latency: '20',
  faults: 'fail=1',
  rateLimit: '5',
  seed: '7',
  out: 'other.out',
  add: true,
  format: 'jsonl',
  delimiter: ';',
  set: 'prompt=dusk',
  map: 'images=Bild',
  each: 'style=ink,blur',
  axes: 'axes.json',
  repeat: '2',
  ignore: 'Resolution',
  kind: 'edit',
  mode: 'async',
  limit: '5',
  only: 'a,b',
  skipInvalid: true,
  concurrency: '3',
  downloads: '2',
  rate: '5',
  http: 'undici',
  runsyncTimeout: '90s',
  timeout: '2h',
  retries: '1',
  lowPriority: true,
  webhookUrl: 'https://hooks.test',
  webhookListen: '127.0.0.1:9',
  pollCost: '50ms',
  maxCost: '5',
  maxCostPerDay: '20',
  costBy: 'customer',
  maxCostBy: 'customer=2',
  warnAt: '80%',
  ledger: 'day.jsonl',
  prices: 'prices.json',
  assumePrice: '0.02',
  maxPriceDrift: '7.5%',
  yes: true,
  onUnknown: 'retry',
  retry: 'failed',
  changed: 'redo',
  same: 'refuse',
  halt: '10%',
  repair: true,
  saveOutput: 'output.video',
  download: false,
  onEnd: 'echo end',
  onHold: 'echo held',
  notify: 'https://notify.test',
  quiet: true,
  json: true,
  profile: true,
} satisfies Readonly<Record<Name, string | boolean>>;

/** Options that go with another one alone. */
const beside: { readonly [N in Name]?: Readonly<Record<string, unknown>> } = {
  uploadEndpoint: { upload: 's3://bucket/prefix' },
  webhookListen: { webhookUrl: 'https://hooks.test' },
  ...Object.fromEntries(
    ['functions', 'workers', 'latency', 'faults', 'rateLimit', 'seed'].map((name) => [name, { local: true }]),
  ),
};

/** Options that the batch runner is not given, and what goes by them. */
const elsewhere: { readonly [N in Name]?: string } = {
  follow: 'the rows of stdin',
  plan: 'the tasks of a start',
  db: 'who works the rows',
  metricsFile: 'the file of figures',
  baseUrl: 'the target',
  lbBaseUrl: 'the target',
  apiKeyFile: 'the target',
  uploadEndpoint: 'the store',
  functions: 'the emulator',
  workers: 'the emulator',
  latency: 'the emulator',
  faults: 'the emulator',
  rateLimit: 'the emulator',
  seed: 'the emulator',
  out: 'the folder',
  format: 'the manifest',
  axes: '--each',
  http: 'the transport',
  prices: 'the book',
  onEnd: 'after the run',
  onHold: 'after the run',
  notify: 'after the run',
  quiet: 'the display',
  json: 'the display',
  profile: 'the process',
};

/** The options of a run over a database that its workers go by, and by which term of theirs: the collector goes by all others. */
interface OfWorkers {
  concurrency: 'concurrency';
  rate: 'rate';
  timeoutMs: 'timeoutMs';
  retries: 'retries';
  runsyncTimeoutMs: 'runsyncTimeoutMs';
  executionTimeoutsMs: 'executionTimeoutsMs';
  lowPriority: 'lowPriority';
  pollCostMs: 'pollCostMs';
  onUnknown: 'onUnknown';
  download: 'download';
  saveOutput: 'saveOutput';
  maxCostUsd: 'cap';
  defaultMaxCostUsd: 'cap';
  maxCostByUsd: 'capsByUsd';
  maxPriceDriftPercent: 'maxPriceDriftPercent';
  maxUnpricedUsd: 'unagreed';
  unlessCapped: 'unagreed';
  webhooks: 'webhookUrl';
  prices: 'prices';
  assumePriceUsd: 'prices';
  identity: 'identity';
  baseUrl: 'identity';
  lbBaseUrl: 'identity';
}

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'millrace-options-'))));
afterAll(() => rm(folder, { recursive: true }));

const io = () => ({ cwd: folder, env: { XDG_CONFIG_HOME: join(folder, 'none'), HOME: folder } });

/** The options of `run` by its command line, in a folder without a configuration. */
async function byCommandLine(words: readonly string[]): Promise<RunOptions> {
  const command = addOptions(new Command().exitOverride(), 'run');
  command.parse([...words], { from: 'user' });
  const { raw } = await loadConfig(command.opts(), undefined, io());
  return startOptions('run', raw);
}

/** The options of `run` by a configuration file in the folder. */
async function byConfiguration(settings: object, more: object = {}): Promise<RunOptions> {
  const path = join(folder, 'millrace.config.json');
  await writeFile(path, JSON.stringify(settings));
  try {
    return startOptions('run', (await loadConfig({ ...more }, undefined, io())).raw);
  } finally {
    await rm(path);
  }
}

function wordsOf(name: string, value: unknown): string[] {
  if (typeof value === 'boolean') return [value ? flagOf(name) : noFlagOf(name)];
  return [flagOf(name), String(value)];
}

const words = (name: Name): string[] =>
  [...Object.entries(beside[name] ?? {}), [name, given[name]] as const].flatMap(([each, value]) =>
    wordsOf(each, value),
  );

/** What the batch runner is given, with a name in place of each function. */
function asGiven(options: RunOptions): unknown {
  const run = {
    source: { name: 'rows.jsonl', path: join(folder, 'rows.jsonl'), format: 'jsonl', gzip: false, folder },
    out: join(folder, 'rows.out'),
    repeat: { manifest: [], others: [] },
    options,
    target: { local: options.local, apiKey: 'k', close: () => Promise.resolve() },
    prices: createPriceBook(),
    io: { ...io(), stderr: new Writable() },
  } as unknown as StartedRun;
  return JSON.parse(
    JSON.stringify(batchOptions(run), (_, value: unknown) =>
      typeof value === 'function'
        ? 'a function'
        : value instanceof Map
          ? [...(value as Map<unknown, unknown>)]
          : value,
    ),
  );
}

describe('an option of run', () => {
  it.each(configurableOptions().map(({ name }) => name as Name))(
    'is read from a configuration file as from the command line: %s',
    async (name) => {
      const { row } = configurableOptions().find((option) => option.name === name)!;
      const ofLine = await byCommandLine(words(name));
      const ofFile = await byConfiguration({ [settingOf(name)]: given[name] }, beside[name]);
      const asRead = ofLine[name];
      const expected = row.config === 'path' ? resolve(folder, String(given[name])) : asRead;
      expect(expected).not.toBeUndefined();
      expect(ofFile[name]).toStrictEqual(expected);
    },
  );

  it.each(Object.keys(given) as Name[])('changes what is done: %s', async (name) => {
    const before = await byCommandLine(
      Object.entries(beside[name] ?? {}).flatMap(([each, value]) => wordsOf(each, value)),
    );
    const after = await byCommandLine(words(name));
    expect(after[name], 'its value is the default').not.toStrictEqual(before[name]);
    const arrives = JSON.stringify(asGiven(after)) !== JSON.stringify(asGiven(before));
    expect({ name, where: arrives ? 'the batch runner' : (elsewhere[name] ?? 'nowhere') }).toStrictEqual({
      name,
      where: elsewhere[name] ?? 'the batch runner',
    });
  });

  it('gives the workers of a run over a database each of their terms', () => {
    // Endpoints are those of the rows.
    type OfRows = 'endpoints' | 'hasRoutes';
    expectTypeOf<Exclude<keyof RunTerms, OfRows | OfWorkers[keyof OfWorkers]>>().toBeNever();
    expectTypeOf<Exclude<keyof OfWorkers, keyof RunBatchOptions>>().toBeNever();
  });
});
