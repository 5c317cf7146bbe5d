import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.js';

/**
 * Files that need a process of their own: nock takes the place of Node's http for good, heaps and handles are counted.
 * All others share a process with what they import.
 */
const alone = [
  'test/src/transport/got-{transport,download}.test.ts',
  'test/src/endpoints/wire.test.ts',
  'test/src/operators/purchase/create-job.wire.test.ts',
  'test/runners/batch/run/flat-memory.test.ts',
  'test/bench/**/*.test.ts',
];

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
} as const;

export default defineConfig({
  test: {
    ...each,
    globalSetup: ['test/support/database-server.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...each, name: 'together', include: ['test/**/*.test.ts'], exclude: alone, isolate: false } },
      { test: { ...each, name: 'alone', include: alone, isolate: true } },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary', 'text'],
      thresholds: { lines: 95 },
    },
  },
});
