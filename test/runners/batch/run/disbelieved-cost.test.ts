import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';
import { accepted, completed, intent, journalFile, reply, start } from '../../../support/sample-records.js';

const edit = (id: string) => ({
  id,
  endpoint: 'image-edit',
  mode: 'sync',
  images: ['http://example.test/a.png'],
  prompt: id,
});
const names = (count: number) => Array.from({ length: count }, (_, row) => `row-${row}`);

/** Answers each POST at once, as /runsync does, with the cost as it stands in JSON. */
function reporting(run: PaperRun, costOf: (row: string) => string): void {
  run.service.behave = (row) => {
    run.service.posts.push(row);
    const body = `{"id":"job-${row}","status":"COMPLETED","output":{"cost":${costOf(row)}}}`;
    return { status: 200, body };
  };
}

const figures = {
  'above what the books hold': '1099512',
  'far above it': '1e300',
  'millionths of a dollar': '87500',
  'billionths of a dollar': '87500000',
  'more than a thousand times the price': '87.6',
  negative: '-0.0875',
  infinite: '1e999',
  'a number as text': '"0.0875"',
  'an amount in an object': '{"usd":0.0875}',
};

describe.each(Object.entries(figures))('a reported cost that is %s', (_, figure) => {
  it('books the estimate, keeps the text and stops; the next start counts the same [fault 12a]', async () => {
    const run = paperRun();
    run.manifest(names(12).map(edit));
    reporting(run, (row) => (row === 'row-0' ? figure : '0.0875'));
    const options = { maxCostUsd: 0.45, concurrency: 1, settings: { mode: 'sync' } as const };
    const first = await run.start(options);
    expect(first.exitCode).toBe(3);
    const text = /^["{]/.test(figure) ? figure : String(JSON.parse(figure));
    expect(first.reason).toContain(`cost of ${text} for row "row-0" (image-edit at 1k)`);
    expect(run.service.posts).toEqual(['row-0']);
    expect(first.summary.cost).toMatchObject({ estimated: 0.0875, reported: 0, unknown: 0, drift: 0 });
    const replies = run.lines('journal.jsonl').filter(({ k }) => k === 'reply');
    expect(replies).toMatchObject([{ cost: 87_500, source: 'estimated', disbelieved: text }]);
    expect(run.costs()).toMatchObject([{ cost: '0.0875', source: 'estimated' }]);
    const second = await run.start(options);
    expect(second.reason).toContain('cost cap of $0.45');
    expect(second.summary.cost).toMatchObject({ estimated: 0.0875, reported: 0.35 });
    expect(run.service.posts).toHaveLength(5);
  });
});

describe('what is no figure', () => {
  it.each(['null', '"free"', '{"usd":null}'])('does not stop the run: %s', async (figure) => {
    const run = paperRun();
    run.manifest(names(2).map(edit));
    reporting(run, () => figure);
    const end = await run.start({ maxCostUsd: 1 });
    expect(end.exitCode).toBe(0);
    expect(end.summary.cost).toMatchObject({ estimated: 0.175 });
  });

  it('is booked at the estimate of a job that failed, too', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    const body = { id: 'job-a', status: 'FAILED', error: 'no', output: { cost: 1e7 } };
    run.service.behave = () => ({ status: 200, body });
    const end = await run.start();
    expect(end.exitCode).toBe(3);
    expect(end.summary.cost).toMatchObject({ estimated: 0.0875, reported: 0 });
  });

  it('is no estimate that the books cannot hold: the reported time is not believed either', async () => {
    const run = paperRun();
    run.manifest([{ id: 'a', endpoint: 'gpu', input: { row: 'a' } }]);
    const body = { id: 'job-a', status: 'COMPLETED', executionTime: 1e300, output: {} };
    run.service.behave = () => ({ status: 200, body });
    const { createPriceBook, toPriceList } = await import('../../../../runners/batch/index.js');
    const prices = createPriceBook(
      toPriceList({ endpoints: { gpu: { usdPerSecond: 0.01, reserveSeconds: 10 } } }),
    );
    const end = await run.start({ prices });
    expect(end.summary.cost).toMatchObject({ estimated: 0.1 });
  });
});

describe('a folder of 0.1.0 with such a cost in its journal', () => {
  const identity = { baseUrl: 'https://paper.test', lbBaseUrl: 'https://paper.test', local: false };
  const journal = (...records: JournalRecord[]) => journalFile(records);
  const cost = 2e12;

  it.each(['completed', 'replied'])('is counted at the price: %s', async (state) => {
    const run = paperRun();
    run.manifest([edit('a'), ...names(12).map(edit)]);
    const reported = reply('a', { cost, imageUrl: 'https://paper.test/pictures/a.png' });
    run.disk.plant(
      '/job/out/journal.jsonl',
      journal(
        start({ identity }),
        intent('a', { resolution: undefined as never }),
        accepted('a'),
        reported,
        ...(state === 'completed' ? [completed('a', { cost })] : []),
      ),
    );
    const end = await run.start({ maxCostUsd: 0.3, concurrency: 1 });
    expect(end.exitCode).toBe(3);
    expect(run.service.posts).toEqual(['row-0', 'row-1']);
    expect(end.summary.cost).toMatchObject({ estimated: 0.0875, reported: 0.175, unknown: 0 });
    const again = await run.start({ maxCostUsd: 0.3, concurrency: 1 });
    expect(again.summary.cost).toMatchObject({ estimated: 0.0875, reported: 0.175, unknown: 0 });
    expect(run.service.posts).toHaveLength(2);
  });
});
