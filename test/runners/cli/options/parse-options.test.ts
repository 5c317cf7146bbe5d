import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../runners/cli/io/usage-error.js';
import { startOptions } from '../../../../runners/cli/options/parse-options.js';

function problemsOf(raw: Record<string, unknown>): readonly string[] {
  try {
    startOptions('run', raw);
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  return [];
}

describe('parseOptions', () => {
  it('fills in the defaults that the help names', () => {
    expect(startOptions('run', {})).toMatchObject({
      endpoints: {},
      add: false,
      each: {},
      ignore: [],
      same: 'warn',
      follow: false,
      local: false,
      set: {},
      map: {},
      http: 'got',
      pollCost: 190,
      lowPriority: false,
      downloads: 4,
      runsyncTimeout: 60_000,
      timeout: 3_600_000,
      retries: 4,
      onUnknown: 'hold',
      yes: false,
      repair: false,
      skipInvalid: false,
      download: true,
      quiet: false,
      json: false,
    });
  });

  it('reads every value in the unit in which it is used', () => {
    const options = startOptions('run', {
      timeout: '1h30m',
      maxCost: '$12.50',
      maxCostPerDay: '40',
      assumePrice: '0.002',
      maxPriceDrift: '7.5%',
      rate: '0.5',
      halt: '10%',
      warnAt: '80%',
      only: ['a,b', 'c'],
      set: ['prompt=a=b', 'resolution='],
      retry: ['download,job-failed'],
      retries: '0',
    });
    expect(options).toMatchObject({
      timeout: 5_400_000,
      maxCost: 12.5,
      maxCostPerDay: 40,
      assumePrice: 0.002,
      maxPriceDrift: 7.5,
      rate: 0.5,
      halt: { percent: 10 },
      warnAt: { percent: 80 },
      only: ['a', 'b', 'c'],
      set: { prompt: 'a=b', resolution: '' },
      retry: ['download', 'job-failed'],
      retries: 0,
    });
  });

  it.each([
    ['concurrency', '0', '--concurrency: "0" is not allowed: a whole number from 1 to 10000 is, or auto'],
    ['concurrency', '1e3', '--concurrency: "1e3" is not allowed: a whole number from 1 to 10000 is, or auto'],
    ['downloads', '-1', '--downloads: "-1" is not allowed: a whole number from 1 to 1000 is'],
    ['limit', '0', '--limit: "0" is not allowed: a whole number of at least 1 is'],
    ['retries', 'many', '--retries: "many" is not allowed: a whole number from 0 to 1000 is'],
    ['rate', '0', '--rate: "0" is not allowed: a number of requests a second above 0 is, such as 20 or 0.5'],
    ['timeout', '60', '--timeout: "60" has no unit: write 60s for seconds, 60m for minutes or 60h for hours'],
    ['timeout', '31d', '--timeout: "31d" is out of bounds: from 1ms to 30d is allowed'],
    ['runsyncTimeout', '0s', '--runsync-timeout: "0s" is out of bounds: from 1ms to 30d is allowed'],
    ['kind', 'edits', '--kind: "edits" is not one of edit, job, route'],
    ['mode', 'fast', '--mode: "fast" is not one of sync, async'],
    ['format', 'xlsx', '--format: "xlsx" is not one of csv, jsonl'],
    ['onUnknown', 'resend', '--on-unknown: "resend" is not one of hold, retry'],
    ['changed', 'yes', '--changed: "yes" is not one of keep, redo'],
    ['maxCost', '-1', '--max-cost: "-1" is not an amount: write dollars such as 25 or 0.5'],
    ['halt', '0', '--halt: "0" is not allowed: a number of rows such as 50, or a share such as 10%, is'],
    [
      'halt',
      '120%',
      '--halt: "120%" is not allowed: a number of rows such as 50, or a share such as 10%, is',
    ],
    ...['0%', '150%', '-1', 'abc', '0', '$80%'].map((given): [string, string, string] => [
      ...(['warnAt', given] as const),
      `--warn-at: "${given}" is not allowed: a share of the cap up to 100% such as 80%, or dollars such as 20, is`,
    ]),
    ['endpoint', 'https://x', '--endpoint: "https://x" may hold only letters'],
    ['baseUrl', 'https://x/v2', '--base-url: "https://x/v2" ends in /v2'],
    ['limit', '0', '--limit: "0" is not allowed'],
    ['only', ['a,,b'], '--only: "a,,b" has an empty name between its commas'],
    ['set', ['prompt'], '--set: "prompt" is not of the form NAME=VALUE'],
    ['set', ['prompt=a', 'prompt=b'], '--set: "prompt" is given twice; leave one of them'],
    ['map', ['prompt=a', 'id=b', 'prompt=c'], '--map: "prompt" is given twice; leave one of them'],
    ['map', ['=x'], '--map: "=x" is not of the form NAME=COLUMN'],
    [
      'retry',
      ['downloads'],
      '--retry: "downloads" is not a failure code; there are failed, all, invalid-row',
    ],
    ['workers', '2', '--workers: is for the emulator: it goes with --local'],
  ])('refuses --%s %s', (name, value, problem) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining(problem)]);
  });

  it.each(['20', '$20', '20.5'])('takes %s as dollars for --warn-at', (given) => {
    expect(startOptions('run', { warnAt: given }).warnAt).toEqual({
      usd: Number(given.replace('$', '')),
    });
  });

  it('refuses a host beside the emulator', () => {
    expect(problemsOf({ local: true, baseUrl: 'https://x' })).toEqual([
      '--base-url: does not go with --local: the emulator has its own',
    ]);
  });

  it('names every wrong option at once', () => {
    expect(problemsOf({ concurrency: 'x', timeout: '5' })).toHaveLength(2);
  });
});
