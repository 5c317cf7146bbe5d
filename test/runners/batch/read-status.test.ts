import { describe, expect, it } from 'vitest';
import { readStatus } from '../../../runners/batch/read-status.js';
import { runBatch, type RunEvent } from '../../../runners/batch/run-batch.js';
import { edit, job } from '../../support/manifest-rows.js';
import { paperRun } from '../../support/paper-run.js';

describe('readStatus', () => {
  it('tells how a finished run ended', async () => {
    const run = paperRun();
    run.service.behave = (row) => (row === 'b' ? 'lose-answer' : row === 'c' ? 'fail' : 'complete');
    run.manifest([edit('a'), edit('b'), job('c')]);
    await run.start({ maxCostUsd: 5, assumePriceUsd: 0 });
    expect(await readStatus('/job/out', { disk: run.disk })).toMatchObject({
      isRunning: false,
      rows: { total: 3, completed: 1, failed: 2, toDo: 0 },
      failures: { unknown: 1, 'job-failed': 1 },
      pending: { sent: 0, accepted: 0, replied: 0 },
      held: ['b'],
      cost: { reported: 0.0875, unknown: 0.0875, reserved: 0, cap: 5 },
      starts: 1,
      exitCode: 6,
      reason: expect.stringContaining('settle') as string,
    });
  });

  it('tells where a run stands that runs, or died, from what is durable; and changes nothing', async () => {
    const run = paperRun();
    run.manifest([...Array.from({ length: 9 }, (_, index) => job(`j${index}`)), edit('last')]);
    let ended = 0;
    const before = run.disk;
    const watch = (event: RunEvent): void => {
      if (event.type === 'ended') ended++;
      if (ended >= 4 && event.type === 'row' && event.event.type === 'accepted' && !before.crashed)
        run.disk = before.handOver();
    };
    await run.follow(runBatch(run.options({ concurrency: 2 })), watch);
    const files = run.disk.paths().map((path) => [path, run.disk.peek(path)?.toString()]);
    const status = await readStatus('/job/out', { disk: run.disk });
    expect(status.rows.completed).toBeGreaterThanOrEqual(4);
    expect(status.exitCode).toBeUndefined();
    const { sent, accepted, replied } = status.pending;
    expect(sent + accepted + replied).toBeGreaterThan(0);
    expect(run.disk.paths().map((path) => [path, run.disk.peek(path)?.toString()])).toEqual(files);
  });

  it('counts what the journal knows where a run died before its first summary', async () => {
    const run = paperRun();
    run.manifest([job('a'), job('b')]);
    const before = run.disk;
    const watch = (event: RunEvent): void => {
      if (event.type === 'row' && event.event.type === 'accepted' && !before.crashed)
        run.disk = before.handOver();
    };
    await run.follow(runBatch(run.options({ concurrency: 1 })), watch);
    if (run.disk.peek('/job/out/summary.json') !== undefined) await run.disk.unlink('/job/out/summary.json');
    const { rows, pending } = await readStatus('/job/out', { disk: run.disk });
    expect(pending.accepted).toBe(1);
    expect(rows).toEqual({ total: 1, completed: 0, failed: 0, toDo: 1 });
  });

  it('says that there is no run', async () => {
    await expect(readStatus('/job/out', { disk: paperRun().disk })).rejects.toMatchObject({ code: 'usage' });
  });
});
