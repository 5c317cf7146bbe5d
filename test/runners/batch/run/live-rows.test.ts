import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastValueFrom, Subject } from 'rxjs';
import {
  runBatch,
  type RunBatchOptions,
  type RunEvent,
  type StopOrder,
} from '../../../../runners/batch/index.js';
import { startEmulator, type Emulator } from '../../../../runners/emulator/index.js';
import { until } from '../../../support/until.js';

describe('runBatch over rows that arrive', () => {
  let emulator: Emulator;
  let out: string;
  beforeEach(async () => {
    out = await mkdtemp(join(tmpdir(), 'millrace-live-'));
    emulator = await startEmulator();
  });
  afterEach(async () => {
    await emulator.close();
    await rm(out, { recursive: true });
  });
  const run = (rows: AsyncIterable<unknown> | Iterable<unknown>, more: Partial<RunBatchOptions> = {}) => {
    const { baseUrl, lbBaseUrl, apiKey } = emulator;
    const manifest = { rows, mode: 'sync' as const };
    return lastValueFrom(runBatch({ manifest, out, baseUrl, lbBaseUrl, apiKey, ...more }));
  };
  const echo = (n: number) => ({ id: `r${n}`, endpoint: 'echo', input: { n } });
  const finished = (exitCode: number) =>
    expect.objectContaining<Partial<RunEvent>>({ type: 'finished', exitCode });

  it('pulls no more rows than it has places for while nobody takes their ends', async () => {
    let pulled = 0;
    const reported: string[] = [];
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    async function* rows() {
      for (; pulled < 30; pulled++) yield await Promise.resolve(echo(pulled));
    }
    const end = run(rows(), {
      concurrency: 3,
      async deliver({ id }) {
        reported.push(id);
        await gate;
      },
    });
    await until(() => reported.length === 3);
    expect(pulled).toBeLessThanOrEqual(4);
    open();
    expect(await end).toEqual(finished(0));
    expect(new Set(reported).size).toBe(30);
  });

  it('sends a row once that is told twice at once, and ends with a stop while it waits for the next', async () => {
    const stop = new Subject<StopOrder>();
    const reported: string[] = [];
    async function* rows() {
      yield* [echo(1), echo(1), echo(1)];
      await new Promise(() => undefined);
    }
    const end = run(rows(), { stop, deliver: ({ id }) => void reported.push(id) });
    await until(() => reported.length === 1);
    stop.next('graceful');
    expect(await end).toEqual(finished(130));
    expect(emulator.bill()).toHaveLength(1);
  });

  it('refuses rows that it has no host or, under a cap, no price for, and goes on', async () => {
    const rows = [{ id: 'route', route: 'info', method: 'GET' }, echo(1), { ...echo(2), endpoint: 'other' }];
    const { baseUrl, apiKey } = emulator;
    const reported: Record<string, unknown> = {};
    const end = await lastValueFrom(
      runBatch({
        manifest: { rows, mode: 'sync' },
        out,
        baseUrl,
        apiKey,
        maxCostUsd: 1,
        deliver: (line) => void (reported[line.id.split('~')[0] ?? ''] = line),
      }),
    );
    expect(end).toEqual(finished(1));
    expect(reported).toMatchObject({
      route: { error: { code: 'invalid-row', message: expect.stringContaining('routes need their host') } },
      r1: { error: { message: expect.stringContaining('has no known price') } },
    });
    expect(emulator.bill()).toEqual([]);
  });

  it('takes a row that arrives again in the form of another editor for the one that came before', async () => {
    const row = (text: string) => ({ id: 'a', endpoint: 'echo', input: { text } });
    const reported: string[] = [];
    const deliver = ({ id }: { id: string }) => void reported.push(id);
    expect(await run([row('1\r\n2'), row('1\n2')], { deliver })).toEqual(finished(0));
    expect(reported).toEqual(['a']);
    expect(await run([row('1\n2')], { deliver })).toEqual(finished(0));
    expect(reported).toEqual(['a', 'a']);
  });

  it('ends a wrong row once, however often it is fed, and delivers its end in each start', async () => {
    const rows = [echo(1), echo(1), { ...echo(2), id: 'r1' }, { id: 'r1' }];
    const feed = async () => {
      const ended: string[] = [];
      await run(rows, { maxCostUsd: 1, deliver: ({ id }) => void ended.push(id.split('~')[0] ?? '') });
      const lines = (await readFile(join(out, 'failures.jsonl'), 'utf8')).trim().split('\n');
      return { ended, ids: lines.map((line) => (JSON.parse(line) as { id: string }).id) };
    };
    const first = await feed();
    expect(first.ended).toEqual(['r1', 'r1', 'r1']);
    expect(new Set(first.ids).size).toBe(3);
    const again = await feed();
    expect(again.ended.slice(0, 3)).toEqual(['r1', 'r1', 'r1']);
    expect(again.ids).toEqual(first.ids);
  });
});
