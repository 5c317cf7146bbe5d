import type { TestContext } from 'vitest';

/** Skips a test that cannot run here, and prints why: reporters count skipped tests, but do not show their reasons. */
export function skipTest({ skip }: Pick<TestContext, 'skip'>, reason: string): never {
  process.stderr.write(`\n*** NOT TESTED: ${reason} ***\n\n`);
  return skip(reason);
}
