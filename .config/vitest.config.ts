import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.js';
import { alone, long } from './test-files.js';

const each = {
  root: new URL('..', import.meta.url).pathname,
  // Ends what hangs, also on a machine that has much else to do.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  pool: 'forks',
  // One more than there are cores: many tests wait for processes, databases and browsers.
  maxWorkers: availableParallelism() + 1,
  typecheck: { enabled: false },
  // Compiled modules are kept from one run to the next, each by a hash of its text and of this configuration.
  experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/test-modules' },
  // Locks on the paths of runs are kept there: those of tests do not belong to the person who runs them.
  env: { XDG_STATE_HOME: join(tmpdir(), 'millrace-test-state') },
} as const;

/** `npm test` runs the short files, `npm run test:long` the long ones, `npm run coverage` all. */
const parts = {
  short: {
    together: ['test/**/*.test.ts'],
    left: [...long, ...alone.short, ...alone.long],
    alone: alone.short,
  },
  long: { together: long, left: alone.long, alone: alone.long },
  all: {
    together: ['test/**/*.test.ts'],
    left: [...alone.short, ...alone.long],
    alone: [...alone.short, ...alone.long],
  },
};
const part = parts[(process.env['MILLRACE_TESTS'] ?? 'short') as keyof typeof parts];

/** Other versions of optional packages, as folders by their names: `npm run test:peers`. */
const resolve = { alias: JSON.parse(process.env['MILLRACE_TEST_PEERS'] ?? '{}') as Record<string, string> };

export default defineConfig({
  test: {
    ...each,
    globalSetup: ['test/support/fresh-build.ts', 'test/support/database-server.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        resolve,
        test: { ...each, name: 'together', include: part.together, exclude: part.left, isolate: false },
      },
      { resolve, test: { ...each, name: 'alone', include: part.alone, isolate: true } },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary', 'text'],
      thresholds: { lines: 95 },
    },
  },
});
