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
