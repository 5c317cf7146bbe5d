import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mountSmallDisk } from '../../support/mount-small-disk.js';
import { skipTest } from '../../support/skip-test.js';
import { startOtherServer, type OtherServer } from '../../support/other-server.js';
import { runFolder, type RunFolder } from '../../support/run-folder.js';

const rows = 40;

let server: OtherServer;
let folder: RunFolder;

beforeEach(async () => {
  server = await startOtherServer();
  folder = runFolder();
  server.behave = (row) => ({ output: { row, text: 'x'.repeat(20_000), cost: 0.01 } });
  folder.manifest(
    Array.from({ length: rows }, (_, n) => ({ id: `job-${n}`, endpoint: 'e', input: { row: `job-${n}` } })),
  );
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

describe('a run on a file system of 1 MB', () => {
  it('stops with exit 74 when that is full, and goes on once there is room [fault 17]', async ({ skip }) => {
    mkdirSync(folder.out);
    const disk = mountSmallDisk(folder.out);
    if ('skip' in disk) skipTest({ skip }, disk.skip);
    try {
      writeFileSync(join(folder.out, 'journal.jsonl'), '');
      const filler = join(folder.out, 'filler');
      writeFileSync(filler, Buffer.alloc(500_000));
      const full = await folder.run(server, { concurrency: 4 });
      expect([full.exitCode, full.reason]).toEqual([
        74,
        expect.stringMatching(/no space.*run the same command again/is),
      ]);
      const executed = [...server.executions.values()];
      expect(executed.length).toBeLessThan(rows);

      disk.grow();
      unlinkSync(filler);
      const last = await folder.run(server, { concurrency: 4 });
      const failures = folder.lines('failures.jsonl') as { id: string; error: { code: string } }[];
      const results = folder.lines('results.jsonl');
      expect(failures.every(({ error }) => error.code === 'unknown')).toBe(true);
      expect(last.exitCode).toBe(failures.length > 0 ? 6 : 0);
      expect(new Set([...results, ...failures].map(({ id }) => id)).size).toBe(rows);
      expect([...server.executions.values()].every((count) => count === 1)).toBe(true);
    } finally {
      disk.unmount();
    }
  });
});
