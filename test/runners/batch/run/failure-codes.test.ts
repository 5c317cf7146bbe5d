import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../../../../src/contract/failure-code.js';
import { job } from '../../../support/manifest-rows.js';
import type { PaperBehaviour } from '../../../support/paper-service.js';
import { createGotDownload } from '../../../../src/transport/got/got-download.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

const edit = (id: string, more: object = {}) => ({
  id,
  endpoint: 'image-edit',
  images: ['http://example.test/a.png'],
  prompt: id,
  note: 'mine',
  ...more,
});
const route = (id: string, more: object = {}) => ({ id, route: `/${id}`, ...more });

interface Failure {
  id: string;
  note?: string;
  error: {
    code: FailureCode;
    paid: string;
    message: string;
    httpStatus?: number;
    detail?: string;
    retryable: boolean;
  };
  millrace: Record<string, unknown>;
}

function failures(run: PaperRun): Failure[] {
  return run.lines('failures.jsonl') as unknown as Failure[];
}

async function failing(
  row: object,
  behaviour: PaperBehaviour,
  options: object = {},
): Promise<{ run: PaperRun; failure: Failure }> {
  const run = paperRun();
  run.service.behave = () => behaviour;
  run.manifest([row]);
  await run.start(options);
  const [failure] = failures(run);
  if (failure === undefined) throw new Error('the row did not fail');
  return { run, failure };
}

describe('failures.jsonl', () => {
  it('has the row at top level, the error and what became of it', async () => {
    const { run, failure } = await failing(edit('a'), 'reject');
    expect(Object.keys(failure)).toEqual(['id', 'endpoint', 'images', 'prompt', 'note', 'error', 'millrace']);
    expect(failure).toMatchObject({
      note: 'mine',
      error: { code: 'rejected', paid: 'no', httpStatus: 400, retryable: false },
      millrace: { row: 1, kind: 'edit', endpoint: 'image-edit', jobId: 'job-a-1', attempts: 1 },
    });
    expect(failure.error.message).toContain('bad image');
    expect(Object.keys(failure.millrace)).toEqual([
      'row',
      'kind',
      'endpoint',
      'jobId',
      'attempts',
      'submittedAt',
      'settledAt',
    ]);
    expect(run.costs()).toMatchObject([{ id: 'a', row: '1', attempt: '1', cost: '0', source: 'estimated' }]);
  });

  it.each<[FailureCode, object, PaperBehaviour, string]>([
    ['job-failed', job('a'), 'fail', 'no'],
    ['job-cancelled', job('a'), 'cancel', 'no'],
    ['job-timed-out', job('a'), 'time-out', 'no'],
    ['rejected', job('a'), { status: 400, body: { error: 'bad input' } }, 'no'],
    ['route-not-found', route('a'), { status: 404, body: { error: 'no such route' } }, 'no'],
    ['route-failed', route('a'), { status: 500, body: { error: 'broken', detail: 'line 7' } }, 'no'],
    ['transport', route('a', { method: 'GET' }), { status: 502, body: 'bad gateway' }, 'no'],
    ['malformed-reply', route('a', { method: 'GET' }), { status: 200, body: undefined }, 'no'],
    ['expired', job('a'), 'forget', 'maybe'],
    ['deadline', job('a'), 'hang', 'maybe'],
    ['unknown', job('a'), 'lose-answer', 'maybe'],
    ['unknown', route('a'), 'lose-answer', 'maybe'],
  ])('ends with its code: %s [fault 7]', async (code, row, behaviour, paid) => {
    const { run, failure } = await failing(row, behaviour, { timeoutMs: 120_000 });
    expect(failure.error).toMatchObject({ code, paid });
    expect(failure.error.message).not.toBe('');
    expect(run.lines('results.jsonl')).toEqual([]);
  });

  it('route-failed keeps the detail of the service', async () => {
    const { failure } = await failing(route('a'), {
      status: 500,
      body: { error: 'broken', detail: 'line 7' },
    });
    expect(failure.error).toMatchObject({ httpStatus: 500, detail: 'line 7' });
  });

  it('a failed GET has the same line where the file is written anew from the journal', async () => {
    const { run } = await failing(route('a', { method: 'GET' }), { status: 404, body: { error: 'no' } });
    const before = run.text('failures.jsonl');
    await run.disk.unlink('/job/out/failures.jsonl');
    expect((await run.start()).exitCode).toBe(0);
    expect(run.text('failures.jsonl')).toBe(before);
  });

  it('a price that may have been paid is held, and stands in costs.csv as unknown', async () => {
    const { run } = await failing(edit('a', { resolution: '2k' }), 'lose-answer');
    expect(run.costs()).toMatchObject([
      { id: 'a', resolution: '2k', cost: '0.13', source: 'unknown', jobId: '' },
    ]);
  });

  it('download: paid, with the URL, and its purchase is in the books [fault 32]', async () => {
    const run = paperRun();
    run.service.picture = () => 503;
    run.manifest([edit('a')]);
    const end = await run.start();
    expect(end.exitCode).toBe(1);
    expect(failures(run)).toMatchObject([
      {
        id: 'a',
        error: { code: 'download', paid: 'yes', httpStatus: 503, retryable: true },
        millrace: { imageUrl: 'https://paper.test/pictures/a.png', jobId: 'job-a-1' },
      },
    ]);
    expect(failures(run)[0]?.error.message).toContain('tries: 5');
    expect(run.costs()).toMatchObject([{ cost: '0.0875', source: 'reported' }]);
  });

  it('download: a picture inside a private network, of a service that is not there: asked for once, and paid', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    const saveFrom = createGotDownload({
      services: ['https://8.8.8.8'],
      lookup: (_name, _options, found) => found(null, [{ address: '169.254.169.254', family: 4 }]),
    });
    expect((await run.start({ saveFrom })).exitCode).toBe(1);
    const [failure] = failures(run);
    expect(failure).toMatchObject({
      error: { code: 'download', paid: 'yes' },
      millrace: { jobId: 'job-a-1' },
    });
    expect(failure?.error.message).toContain('paper.test is in a private network');
    expect(failure?.error.message).not.toContain('tries');
    expect(run.costs()).toMatchObject([{ cost: '0.0875', source: 'reported' }]);
  });

  it('invalid-row: with skipInvalid, checked again at the next start', async () => {
    const run = paperRun();
    run.manifest([job('a'), edit('b', { resolution: '8k' }), { id: 'c', kind: 'dance' }]);
    expect((await run.start({ skipInvalid: true })).exitCode).toBe(1);
    expect(failures(run)).toMatchObject([
      {
        id: 'b',
        resolution: '8k',
        error: { code: 'invalid-row', paid: 'no' },
        millrace: { row: 2, kind: null },
      },
      { id: 'c', error: { code: 'invalid-row' } },
    ]);
    expect((await run.start({ skipInvalid: true })).exitCode).toBe(0);
    run.manifest([job('a'), edit('b', { resolution: '2k' })]);
    const end = await run.start({ skipInvalid: true });
    expect(end.exitCode).toBe(0);
    expect(failures(run)).toEqual([]);
    expect(run.lines('results.jsonl').map(({ id }) => id)).toEqual(['a', 'b']);
    expect(end.summary).toMatchObject({ rows: { total: 2, completed: 2, failed: 0, toDo: 0 }, failures: {} });
  });
});

describe('what a new start takes up', () => {
  it.each<[FailureCode, object, PaperBehaviour, string[]]>([
    ['job-failed', job('a'), 'fail', ['failed']],
    ['rejected', job('a'), { status: 400, body: { error: 'no' } }, ['rejected']],
    ['unknown', job('a'), 'lose-answer', ['unknown']],
    ['expired', job('a'), 'forget', ['expired']],
    ['route-failed', route('a'), { status: 500, body: { error: 'no' } }, ['all']],
  ])('%s: nothing unasked, a new purchase when asked', async (code, row, behaviour, retry) => {
    const { run } = await failing(row, behaviour);
    run.service.behave = () => 'complete';
    const bought = run.service.executions.get('a') ?? 0;
    expect((await run.start()).exitCode).toBe(code === 'unknown' ? 6 : 0);
    expect(failures(run)).toHaveLength(1);
    expect(run.service.executions.get('a') ?? 0).toBe(bought);
    const end = await run.start({ retry });
    expect(end.exitCode).toBe(0);
    expect(run.service.executions.get('a')).toBe(bought + 1);
    expect(failures(run)).toEqual([]);
    expect(run.lines('results.jsonl')).toMatchObject([{ id: 'a', attempts: 2 }]);
  });

  it('deadline: polls it by default, with a fresh deadline, and buys nothing', async () => {
    const { run } = await failing(edit('a', { mode: 'async' }), 'hang', { timeoutMs: 5_000 });
    expect(run.costs()).toMatchObject([{ source: 'unknown', cost: '0.0875' }]);
    const id = 'job-a-1';
    const before = run.service.gets.length;
    expect((await run.start({ timeoutMs: 50 })).exitCode).toBe(1);
    expect(run.service.gets.slice(before)).toEqual([id]);
    expect(failures(run)).toHaveLength(1);
    run.service.behave = () => 'complete';
    run.service.revive(id);
    const end = await run.start();
    expect(end).toMatchObject({ exitCode: 0, summary: { cost: { reported: 0.0875, unknown: 0 } } });
    expect(failures(run)).toEqual([]);
    expect(run.service.executions.get('a')).toBe(1);
    expect(run.costs().map(({ source }) => source)).toEqual(['reported']);
  });

  it('download: fetches it by default, buys nothing, and the row is completed then', async () => {
    const run = paperRun();
    run.service.picture = () => 404;
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    expect(failures(run)).toHaveLength(2);
    run.service.picture = () => 200;
    const end = await run.start();
    expect(end).toMatchObject({
      exitCode: 0,
      summary: { rows: { completed: 2, failed: 0 }, cost: { reported: 0.175 } },
    });
    expect(run.service.posts).toEqual(['a', 'b']);
    expect(failures(run)).toEqual([]);
    expect(run.lines('results.jsonl')).toMatchObject([
      { image: { path: 'images/a.png' } },
      { image: { path: 'images/b.png' } },
    ]);
    expect(run.costs()).toHaveLength(2);
  });

  it('not the rows beyond limit and only', async () => {
    const run = paperRun();
    run.service.behave = () => 'fail';
    run.manifest(['a', 'b', 'c', 'd'].map((id) => job(id)));
    await run.start();
    run.service.behave = () => 'complete';
    const end = await run.start({ retry: ['failed'], limit: 1 });
    expect(end.summary.rows).toMatchObject({ completed: 1, failed: 3, toDo: 0 });
    await run.start({ retry: ['failed'], only: ['c'] });
    expect(failures(run).map(({ id }) => id)).toEqual(['b', 'd']);
  });
});

describe('a failures.jsonl that is read in another folder', () => {
  async function readBack(row: object, behaviour: PaperBehaviour, options: object = {}, again: object = {}) {
    const first = paperRun();
    first.service.behave = () => behaviour;
    if (behaviour === 'complete') first.service.picture = () => 503;
    first.manifest([row]);
    await first.start(options);
    const second = paperRun();
    second.manifest(first.lines('failures.jsonl'));
    const manifest = { path: '/job/manifest.jsonl' };
    const service = first.service;
    service.behave = () => 'complete';
    service.picture = () => 200;
    const shared = { manifest, transport: service.transport, saveFrom: service.download };
    return { service, second, end: await second.startBeside(first, { ...shared, ...again }) };
  }

  it('sends what was not paid', async () => {
    const { service, second, end } = await readBack(job('a'), 'fail');
    expect(end.exitCode).toBe(0);
    expect(service.executions.get('a')).toBe(2);
    expect(second.lines('results.jsonl')).toMatchObject([{ id: 'a', columns: {} }]);
  });

  it('fetches what is paid, buys nothing, and writes no purchase', async () => {
    const { service, second, end } = await readBack(edit('a'), 'complete');
    expect(end.exitCode).toBe(0);
    expect(service.executions.get('a')).toBe(1);
    expect(second.lines('results.jsonl')).toMatchObject([
      { id: 'a', image: { path: 'images/a.png' }, cost: null },
    ]);
    expect(second.costs()).toEqual([]);
  });

  it('polls what reached its deadline', async () => {
    const { service, second, end } = await readBack(
      job('a'),
      'hang',
      { timeoutMs: 1_000 },
      { timeoutMs: 1_000 },
    );
    expect(service.executions.get('a')).toBe(1);
    expect(service.gets.length).toBeGreaterThan(1);
    expect(end.exitCode).toBe(1);
    expect(second.lines('failures.jsonl')).toMatchObject([
      { error: { code: 'deadline' }, millrace: { jobId: 'job-a-1' } },
    ]);
  });

  it.each([
    ['lose-answer', 'unknown', 6],
    ['forget', 'expired', 1],
  ] as const)('holds %s: %s', async (behaviour, code, exitCode) => {
    const { service, second, end } = await readBack(job('a'), behaviour);
    expect(end.exitCode).toBe(exitCode);
    expect(service.executions.get('a')).toBe(1);
    expect(second.lines('failures.jsonl')).toMatchObject([{ error: { code, paid: 'maybe' } }]);
  });

  it('sends what is held when it is asked for', async () => {
    const { service, end } = await readBack(job('a'), 'lose-answer', {}, { retry: ['unknown'] });
    expect(end.exitCode).toBe(0);
    expect(service.executions.get('a')).toBe(2);
  });
});
