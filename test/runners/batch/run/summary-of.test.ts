import { firstValueFrom, timer } from 'rxjs';
import { expect, it } from 'vitest';
import { paperRun } from '../../../support/paper-run.js';

const job = (id: string) => ({ id, endpoint: 'grind', input: { id } });
const edit = (id: string, resolution: string) => ({
  ...{ id, endpoint: 'image-edit', resolution, prompt: id },
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
