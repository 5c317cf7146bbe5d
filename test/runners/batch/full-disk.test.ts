import { closeSync, mkdirSync, openSync, readdirSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mountSmallDisk } from '../../support/mount-small-disk.js';
import { quotaDisk } from '../../support/quota-disk.js';
import { skipTest } from '../../support/skip-test.js';
import { startOtherServer, type OtherServer } from '../../support/other-server.js';
import { runFolder, type RunFolder } from '../../support/run-folder.js';

const rows = 40;

let server: OtherServer;
let folder: RunFolder;
let inSync: Parameters<RunFolder['run']>[1];

beforeEach(async () => {
  server = await startOtherServer();
  folder = runFolder();
  const path = folder.manifest(
    Array.from({ length: rows }, (_, n) => ({ id: `job-${n}`, endpoint: 'e', input: { row: `job-${n}` } })),
  );
  // The answer to /runsync is the first that has the job's id.
  inSync = { concurrency: 4, manifest: { path, mode: 'sync' } };
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

describe('a run on a file system of 1 MB', () => {
  it.for<[string, number, number]>([
    ['stops with exit 74 before it is full: no answer is lost', 20_000, 0],
    ['stops with exit 74 when long answers fill it: at most those in flight are in doubt', 120_000, 4],
  ])('%s, and goes on once there is room [fault 17]', async ([, length, mostLost], { skip }) => {
    server.behave = (row) => ({ output: { row, text: 'x'.repeat(length), cost: 0.01 } });
    mkdirSync(folder.out);
    const disk = mountSmallDisk(folder.out);
    if ('skip' in disk) skipTest({ skip }, disk.skip);
    try {
      writeFileSync(join(folder.out, 'journal.jsonl'), '');
      const filler = join(folder.out, 'filler');
      writeFileSync(filler, Buffer.alloc(500_000));
      const full = await folder.run(server, inSync);
      expect([full.exitCode, full.reason]).toEqual([
        74,
        expect.stringMatching(/no space.*run the same command again/is),
      ]);
      const executed = [...server.executions.values()];
      expect(executed.length).toBeLessThan(rows);
      // Nothing more is lost by trying again.
      expect((await folder.run(server, inSync)).exitCode).toBe(74);
      expect((await folder.run(server, inSync)).exitCode).toBe(74);
      expect(server.executions.size).toBeLessThanOrEqual(executed.length + mostLost);

      disk.grow();
      unlinkSync(filler);
      const last = await folder.run(server, inSync);
      const failures = folder.lines('failures.jsonl') as { id: string; error: { code: string } }[];
      const results = folder.lines('results.jsonl');
      expect(failures.every(({ error }) => error.code === 'unknown')).toBe(true);
      expect(failures.length).toBeLessThanOrEqual(mostLost);
      expect(last.exitCode).toBe(failures.length > 0 ? 6 : 0);
      expect(new Set([...results, ...failures].map(({ id }) => id)).size).toBe(rows);
      expect([...server.executions.values()].every((count) => count === 1)).toBe(true);
    } finally {
      disk.unmount();
    }
  });

  it('loses no answer where another program fills it while requests are on their way [fault 17]', async ({
    skip,
  }) => {
    mkdirSync(folder.out);
    const disk = mountSmallDisk(folder.out);
    if ('skip' in disk) skipTest({ skip }, disk.skip);
    try {
      const filler = join(folder.out, 'journal.jsonl.filler');
      server.behave = (row) => {
        if (row === 'job-9') fill(filler);
        return { output: { row, text: 'x'.repeat(20_000), cost: 0.01 } };
      };
      expect((await folder.run(server, inSync)).exitCode).toBe(74);
      const executed = server.executions.size;
      expect(executed).toBeLessThan(rows);
      expect((await folder.run(server, inSync)).exitCode).toBe(74);
      expect(server.executions.size).toBe(executed);
      unlinkSync(filler);
      disk.grow();
      await expectAll();
    } finally {
      disk.unmount();
    }
  });
});

describe('a run of a user whose quota is used up', () => {
  it('loses no answer, and buys nothing more until there is room [fault 17]', async () => {
    server.behave = (row) => ({ output: { row, text: 'x'.repeat(20_000), cost: 0.01 } });
    mkdirSync(folder.out);
    const quota = { bytes: 1_000_000 };
    const disk = quotaDisk(folder.out, quota);
    const full = await folder.run(server, { ...inSync, disk });
    // The lines of a row may meet the quota before its answer in the journal does.
    expect([full.exitCode, full.reason]).toEqual([
      74,
      expect.stringMatching(/(no space|quota is used up).*Free some space and run the same command again/is),
    ]);
    const executed = server.executions.size;
    expect(executed).toBeGreaterThan(4);
    expect(executed).toBeLessThan(rows);
    const again = await folder.run(server, { ...inSync, disk });
    expect([again.exitCode, again.reason]).toEqual([
      74,
      expect.stringContaining('quota is used up (EDQUOT)'),
    ]);
    expect(server.executions.size).toBe(executed);
    quota.bytes = Infinity;
    await expectAll();
  });
});

/** Each row is bought once, and has its answer. */
async function expectAll(): Promise<void> {
  expect((await folder.run(server, inSync)).exitCode).toBe(0);
  expect(
    folder.lines('results.jsonl').map(({ id, output }) => [id, (output as { row: string }).row]),
  ).toEqual(expect.arrayContaining(Array.from({ length: rows }, (_, n) => [`job-${n}`, `job-${n}`])));
  expect([...server.executions.values()].every((count) => count === 1)).toBe(true);
  expect(readdirSync(folder.out)).not.toContain('.ballast');
}

/** Takes all that is left of the disk. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch {
    closeSync(file);
  }
}
