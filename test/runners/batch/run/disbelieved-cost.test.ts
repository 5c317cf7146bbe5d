import { map, timer } from 'rxjs';
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
    const options = { maxCostUsd: 0.45, concurrency: 1 };
    const first = await run.start(options);
    expect(first.exitCode).toBe(3);
    // A number beyond the range of JavaScript's arrives as its text.
    const text = figure === '1e999' ? '"1e999"' : /^["{]/.test(figure) ? figure : String(JSON.parse(figure));
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
});

describe('the cost of a job with a price a second', () => {
  /** A run of twelve jobs, one after the other, each of which reports the time. */
  async function took(time: object, price: object, options: object = {}) {
    const run = paperRun();
    run.manifest(names(12).map((id) => ({ id, endpoint: 'gpu', input: { row: id } })));
    run.service.behave = (row) => {
      run.service.posts.push(row);
      return { status: 200, body: { id: `job-${row}`, status: 'COMPLETED', output: {}, ...time } };
    };
    const { createPriceBook, toPriceList } = await import('../../../../runners/batch/index.js');
    const prices = () =>
      createPriceBook(toPriceList({ endpoints: { gpu: { usdPerSecond: 0.01, ...price } } }));
    const start = (more: object = {}) => run.start({ concurrency: 1, ...options, ...more, prices: prices() });
    return { run, start, end: await start() };
  }

  it.each([1e300, 1e8 + 10_000])('is no estimate from a time that is not believed: %d ms', async (time) => {
    const { run, end } = await took({ executionTime: time }, { reserveSeconds: 10 }, { maxCostUsd: 5 });
    expect(end.exitCode).toBe(3);
    expect(end.reason).toContain(
      'for row "row-0" (gpu), which is not believed as US dollars. $0.10 is booked for it',
    );
    expect(end.summary.cost).toMatchObject({ estimated: 0.1, unknown: 0 });
    expect(run.costs()).toMatchObject([{ cost: '0.1', source: 'estimated' }]);
  });

  it('is the reserved price where the service reports no time, in all files', async () => {
    const { run, start, end } = await took({}, { reserveSeconds: 10 }, { maxCostUsd: 0.55 });
    expect(end.exitCode).toBe(3);
    expect(end.summary.cost).toMatchObject({ estimated: 0.5, unknown: 0, reported: 0 });
    expect(run.costs().map(({ cost, source }) => `${cost} ${source}`)).toEqual(
      Array(5).fill('0.1 estimated'),
    );
    expect((await start()).summary.cost).toMatchObject({ estimated: 0.5, unknown: 0, reported: 0 });
  });

  it('stops a run where nobody has agreed to it: more than twice the reserved price', async () => {
    const unlessCapped = { maxPriceDriftPercent: 100, maxUnpricedUsd: 25 };
    const { run, end } = await took({ executionTime: 60_000 }, { reserveSeconds: 10 }, { unlessCapped });
    expect(end.exitCode).toBe(3);
    expect(end.reason).toContain('500 % over the estimate, and 100 % is allowed');
    expect(run.service.posts).toHaveLength(1);
    const agreed = await took({ executionTime: 15_000 }, { reserveSeconds: 10 }, { unlessCapped });
    expect(agreed.end.exitCode).toBe(0);
    expect(agreed.end.summary.cost).toMatchObject({ estimated: 1.8 });
  });

  it('stops a run where nobody has agreed to it: rows of no known price that cost more than $25 together', async () => {
    const unlessCapped = { maxPriceDriftPercent: 100, maxUnpricedUsd: 25 };
    const { run, end } = await took({ executionTime: 600_000 }, {}, { unlessCapped });
    expect(end.exitCode).toBe(3);
    expect(end.reason).toContain(
      'charges $6.00 for gpu, whose price was not known: 12 such rows cost $72.00',
    );
    expect(run.service.posts).toHaveLength(1);
    expect((await took({ executionTime: 600_000 }, {})).end.exitCode).toBe(0);
  });

  it.each([
    ['above the reserved price', 60_000, { reserveSeconds: 10 }, { usd: 0.6, exitCode: 3, posts: 1 }],
    ['of no known price', 600_000, {}, { usd: 6, exitCode: 0, posts: 12 }],
  ])('is the price that the next start reckons with: %s', async (_, executionTime, price, expected) => {
    const unlessCapped = { maxPriceDriftPercent: 100, maxUnpricedUsd: 25 };
    const { run, start, end } = await took({ executionTime }, price, { unlessCapped });
    const { usd, exitCode, posts } = expected;
    expect(end.exitCode).toBe(3);
    let ahead: unknown;
    const confirm = (_: unknown, start: unknown) => {
      ahead = start;
      return true;
    };
    const next = await start({ confirm });
    expect(ahead).toMatchObject({ price: { estimated: Math.round(11 * usd * 1e6), unpriced: 0 } });
    expect(next.exitCode).toBe(exitCode);
    expect(run.service.posts).toHaveLength(posts);
  });
});

describe('what an earlier start has bought', () => {
  it('counts as agreed to: a start that polls it does not stop at what it costs', async () => {
    const run = paperRun();
    run.manifest(names(12).map((id) => ({ id, endpoint: 'gpu', input: { row: id } })));
    run.service.behave = () => ({ output: { cost: 6 } });
    const stop = timer(60, run.scheduler).pipe(map(() => ({ how: 'graceful', exitCode: 130 }) as const));
    expect((await run.start({ concurrency: 12, stop })).exitCode).toBe(130);
    expect(run.service.posts).toHaveLength(12);
    const end = await run.start({ unlessCapped: { maxPriceDriftPercent: 100, maxUnpricedUsd: 25 } });
    expect(end.summary.cost).toMatchObject({ reported: 72 });
    expect(end.reason).not.toContain('nobody has agreed');
    expect(end.exitCode).toBe(0);
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
