import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { parseCLI } from 'vitest/node';
import { LongestFirst } from './longest-first.js';
import { partOf } from './test-files.js';

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
  setupFiles: 'test/support/own-state.ts',
} as const;

const name = process.env['MILLRACE_TESTS'] ?? 'short';
const part = partOf(
  name,
  parseCLI(['vitest', ...process.argv.slice(2)], { allowUnknownOptions: true }).filter,
  readdirSync(join(each.root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path.replaceAll('\\', '/')}`),
);
if (part.leftOut.length > 0)
  console.error(
    `Left out, because only ${name} tests of a folder run: ${part.leftOut.join(', ')}\nMILLRACE_TESTS=all before the same command runs them too.\n`,
  );

/** Other versions of optional packages, as folders by their names: `npm run test:peers`. */
const resolve = { alias: JSON.parse(process.env['MILLRACE_TEST_PEERS'] ?? '{}') as Record<string, string> };

export default defineConfig({
  test: {
    ...each,
    globalSetup: ['fresh-build', 'folder-in-memory', 'database-server'].map(
      (name) => `test/support/${name}.ts`,
    ),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        resolve,
        test: {
          ...each,
          name: 'together',
          include: [...part.together],
          exclude: [...part.left],
          isolate: false,
        },
      },
      { resolve, test: { ...each, name: 'alone', include: [...part.alone], isolate: true } },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary', 'text'],
      thresholds: { lines: 95 },
    },
  },
});
