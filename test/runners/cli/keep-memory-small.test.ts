import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';

const source = new URL('../../../runners/cli/keep-memory-small.ts', import.meta.url);

/** In a process of its own: flags are the whole process's. */
async function sizes(): Promise<{ first: number; grown: number; later: number }> {
  const { code } = await transform(await readFile(source, 'utf8'), { loader: 'ts' });
  const script = `${code}
    const first = youngBytes();
    keepMemorySmall();
    const grown = youngBytes();
    let kept = [];
    for (let turn = 0; turn < 3e6; turn++) {
      kept.push({ turn });
      if (kept.length > 3e5) kept = [];
    }
    process.stdout.write(JSON.stringify({ first, grown, later: youngBytes() }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return JSON.parse(stdout) as { first: number; grown: number; later: number };
}

describe('keepMemorySmall', () => {
  it('lets the young generation grow once, whatever survives later', async () => {
    const { first, grown, later } = await sizes();
    expect(grown).toBeGreaterThanOrEqual(4 * first);
    expect(grown).toBeLessThanOrEqual(10 * 2 ** 20);
    expect(later).toBe(grown);
  });
});
