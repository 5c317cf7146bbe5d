import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../../runners/cli/', import.meta.url);

async function sourceOf(name: string): Promise<string> {
  return (await transform(await readFile(new URL(name, folder), 'utf8'), { loader: 'ts' })).code;
}

/** In a process of its own: flags are the whole process's. */
async function sizes(): Promise<{ first: number; kept: number; grown: number; later: number }> {
  const script = `${await sourceOf('make-room-for-rows.ts')}
    const first = youngBytes();
    keepMemorySmall();
    work();
    const kept = youngBytes();
    makeRoomForRows();
    const grown = youngBytes();
    work();
    process.stdout.write(JSON.stringify({ first, kept, grown, later: youngBytes() }));
    function work() {
      let rows = [];
      for (let turn = 0; turn < 3e6; turn++) {
        rows.push({ turn });
        if (rows.length > 3e5) rows = [];
      }
    }`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return JSON.parse(stdout) as { first: number; kept: number; grown: number; later: number };
}

describe('makeRoomForRows', () => {
  it('lets the young generation grow once, whatever survives before or later', async () => {
    const { first, kept, grown, later } = await sizes();
    // From the first collection on there are two halves.
    expect(kept).toBeLessThanOrEqual(2 * first);
    expect(grown).toBeGreaterThanOrEqual(4 * kept);
    expect(grown).toBeLessThanOrEqual(10 * 2 ** 20);
    expect(later).toBe(grown);
  });
});
