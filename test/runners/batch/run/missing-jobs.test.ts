import { delay, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { settleRow } from '../../../../runners/batch/settle-row.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { job } from '../../../support/manifest-rows.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

const priced = { assumePriceUsd: 0.1 };
const json404 = { error: 'job not found' };
const page = '<html><h1>404 Not Found</h1><hr><center>nginx</center></html>';

/** Answers 404 about jobs, as long as the test says so; `asked` holds the ids that it was asked for. */
function forgetting(run: PaperRun, answer: (id: string) => unknown) {
  const asked: string[] = [];
  const { transport } = run.service;
  const service = run.service as { transport: Transport };
  service.transport = (request) => {
    const id = /\/status\/(.+)$/.exec(request.url)?.[1];
    const body = id === undefined ? undefined : answer(id);
    if (id !== undefined) asked.push(id);
    if (body === undefined) return transport(request);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return of({ status: 404, headers: {}, body: text }).pipe(delay(20, run.scheduler));
  };
  return asked;
}

describe('404 about a job that the service gave an id to [fault 8]', () => {
  it('is asked again for a minute: a replica that lags costs nothing but the wait', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    const begin = run.scheduler.now();
    forgetting(run, () => (run.scheduler.now() - begin < 50_000 ? json404 : undefined));
    const end = await run.start(priced);
    expect(end).toMatchObject({ exitCode: 0, summary: { cost: { estimated: 0.1, unknown: 0 } } });
    expect(run.service.posts).toEqual(['a']);
  });

  it('holds no slot, up to as many rows as there are slots', async () => {
    const run = paperRun();
    run.manifest(['a', 'b', 'c'].map((id) => job(id)));
    forgetting(run, (id) => (id === 'job-a-1' ? json404 : undefined));
    const end = await run.start({ ...priced, concurrency: 1 });
    expect(end.exitCode).toBe(1);
    expect(run.lines('results.jsonl').map(({ id }) => id)).toEqual(['b', 'c']);
    expect(run.lines('failures.jsonl')).toMatchObject([{ id: 'a', error: { code: 'expired' } }]);
    const times = run
      .lines('journal.jsonl')
      .filter(({ k }) => k === 'outcome')
      .map(({ id, at }) => [id, at]);
    expect(times.map(([id]) => id)).toEqual(['b', 'c', 'a']);
    const all = paperRun();
    all.manifest(Array.from({ length: 50 }, (_, row) => job(`row-${row}`)));
    forgetting(all, () => json404);
    let most = 0;
    await all.start({ concurrency: 3, timeoutMs: 30_000 });
    for (const { k, at } of all.lines('journal.jsonl'))
      if (k === 'intent' && (at as number) - Date.UTC(2027, 0, 1) < 25_000) most += 1;
    expect(most).toBe(6);
  });

  it('is no answer as a page of a proxy: it is asked again to the deadline', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    const begin = run.scheduler.now();
    forgetting(run, () => (run.scheduler.now() - begin < 1_800_000 ? page : undefined));
    expect((await run.start(priced)).exitCode).toBe(0);
    const lost = paperRun();
    lost.manifest([job('a')]);
    forgetting(lost, () => page);
    await lost.start({ ...priced, timeoutMs: 120_000 });
    expect(lost.lines('failures.jsonl')).toMatchObject([{ error: { code: 'deadline', paid: 'maybe' } }]);
  });
});

describe('a job that has expired [fault 8]', () => {
  async function expired() {
    const run = paperRun();
    run.manifest([job('a'), job('b')]);
    const state = { isGone: true };
    const asked = forgetting(run, (id) => (state.isGone && id === 'job-a-1' ? json404 : undefined));
    const end = await run.start({ ...priced, maxCostUsd: 1 });
    expect(end).toMatchObject({
      exitCode: 1,
      summary: { failures: { expired: 1 }, cost: { unknown: 0.1 } },
    });
    // The next night.
    run.scheduler.frame += 86_400_000;
    asked.length = 0;
    return { run, state, asked };
  }

  it('is asked for by each later start, which says nothing where it is still gone, and buys nothing', async () => {
    const { run, asked } = await expired();
    for (let start = 1; start <= 3; start++) {
      const end = await run.start(priced);
      expect(end).toMatchObject({ exitCode: 0, reason: expect.stringContaining('Nothing to do') });
      expect(end.summary).toMatchObject({
        rows: { total: 2, completed: 1, failed: 1, toDo: 0 },
        cost: { estimated: 0.1, unknown: 0.1 },
        thisStart: { ended: 0, failed: 0 },
      });
      expect(end.events.find(({ type }) => type === 'started')).toMatchObject({
        rowsTotal: 2,
        alreadyEnded: 1,
        taken: { polled: 1 },
      });
      expect(asked.splice(0)).toEqual(['job-a-1']);
      expect(run.lines('failures.jsonl')).toMatchObject([{ id: 'a', error: { code: 'expired' } }]);
      expect(
        run
          .costs()
          .map(({ source }) => source)
          .sort(),
      ).toEqual(['estimated', 'unknown']);
    }
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('is asked for once where it is young still, and not for a minute', async () => {
    const { run, asked } = await expired();
    run.scheduler.frame -= 86_400_000;
    for (let start = 1; start <= 2; start++) {
      expect((await run.start(priced)).exitCode).toBe(0);
      expect(asked.splice(0)).toEqual(['job-a-1']);
    }
    expect(run.lines('failures.jsonl')).toMatchObject([{ id: 'a', error: { code: 'expired' } }]);
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('completes once the service knows it again', async () => {
    const { run, state } = await expired();
    state.isGone = false;
    const end = await run.start(priced);
    expect(end).toMatchObject({ exitCode: 0, summary: { cost: { estimated: 0.2, unknown: 0 } } });
    expect(run.lines('failures.jsonl')).toEqual([]);
    expect(run.costs().map(({ source }) => source)).toEqual(['estimated', 'estimated']);
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('is bought again when that is asked for, and not asked for once a person has said what it cost', async () => {
    const { run, asked } = await expired();
    const hold = () => Promise.resolve({ release: () => Promise.resolve() });
    await run.start({ ...priced, only: ['b'] });
    expect(asked).toEqual([]);
    await settleRow('/job/out', 'a', { paidUsd: 0.05 }, { disk: run.disk, hold, scheduler: run.scheduler });
    expect((await run.start(priced)).exitCode).toBe(0);
    expect(asked).toEqual([]);
    expect((await run.start({ ...priced, retry: ['expired'] })).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b', 'a']);
  });
});
