import { firstValueFrom, Subject, timer } from 'rxjs';
import { expect, it } from 'vitest';
import { runBatch, type StopOrder } from '../../../../runners/batch/run-batch.js';
import { paperRun } from '../../../support/paper-run.js';

const job = (id: string) => ({ id, endpoint: 'grind', input: { id } });
const edit = (id: string, resolution: string) => ({
  id,
  endpoint: 'image-edit',
  resolution,
  prompt: id,
  images: ['https://pictures.test/a.png'],
});

it('says of the money what the next start says that finds nothing to do, rows without a price among them', async () => {
  const run = paperRun();
  run.manifest([job('a'), job('b'), edit('c', '1k'), edit('d', '2k'), job('lost')]);
  run.service.behave = (row) => (row === 'lost' ? 'lose-answer' : row === 'd' ? 'fail' : 'complete');
  const first = await run.start();
  const second = await run.start();
  expect(second.summary.thisStart.ended).toBe(0);
  expect(second.summary.cost).toEqual(first.summary.cost);
  expect(second.summary.statusCalls).toBe(first.summary.statusCalls);
  expect(first.summary.cost.unpriced).toBeGreaterThan(0);
});

it('counts a row once while its line is being delivered', async () => {
  const run = paperRun();
  run.manifest([job('a'), job('b'), job('c')]);
  const seen: unknown[] = [];
  await run.start({
    async deliver() {
      await firstValueFrom(timer(12_000, run.scheduler));
      seen.push((JSON.parse(run.text('summary.json')) as { rows: unknown }).rows);
    },
  });
  expect(seen).toContainEqual({ total: 3, completed: 3, failed: 0, toDo: 0 });
  for (const rows of seen) expect(rows).toMatchObject({ total: 3 });
});

it.each([
  ['graceful', { sent: 0, accepted: 1, replied: 0 }],
  ['now', { sent: 1, accepted: 1, replied: 0 }],
] as const)(
  'counts what is on the way when a run is stopped (%s), until it has ended',
  async (order, pending) => {
    const run = paperRun();
    const rows = order === 'now' ? ['silent', 'hung', 'later'] : ['hung', 'later'];
    run.manifest(rows.map((id) => edit(id, '1k')));
    run.service.behave = (row) => (row === 'silent' ? 'never' : 'hang');
    const stop = new Subject<StopOrder>();
    const concurrency = rows.length - 1;
    const hung: string[] = [];
    const end = await run.follow(
      runBatch(run.options({ stop, concurrency, manifest: { path: '/job/manifest.jsonl', mode: 'async' } })),
      (event) => {
        if (event.type !== 'row' || event.event.type !== 'accepted') return;
        hung.push(event.event.jobId);
        stop.next(order);
      },
    );
    expect(JSON.parse(run.text('summary.json'))).toMatchObject({ rows: { toDo: rows.length }, pending });
    expect(end.summary.cost.reserved).toBe(0.0875 * concurrency);
    run.service.behave = () => 'complete';
    for (const jobId of hung) run.service.revive(jobId);
    const last = await run.start({ retry: ['unknown'] });
    expect(last.summary.pending).toBeUndefined();
  },
);
