import { describe, expect, it } from 'vitest';
import { job } from '../../../support/manifest-rows.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

/** Answers POSTs with these ids by row, completed or not; a poll says that the job completed. */
function answering(run: PaperRun, idOf: (row: string) => string, status = 'COMPLETED'): void {
  const { transport } = run.service;
  const service = run.service as { transport: typeof transport };
  service.transport = (request) => {
    if (request.method === 'GET') {
      const id = decodeURIComponent(request.url.split('/').at(-1) ?? '');
      run.service.behave = () => ({ status: 200, body: { id, status: 'COMPLETED', output: { of: id } } });
      return transport({ ...request, url: 'https://paper.test/any' });
    }
    const { input } = JSON.parse(request.body ?? '') as { input: { row: string } };
    const body = { id: idOf(input.row), status, output: { of: input.row } };
    run.service.behave = () => ({ status: 200, body });
    run.service.posts.push(input.row);
    return transport(request);
  };
}

function unknowns(run: PaperRun): [unknown, string][] {
  return run
    .lines('failures.jsonl')
    .map(({ id, error }) => [id, (error as { code: string; message: string }).message]);
}

describe.each([
  ['/run', 'async', 'IN_QUEUE'],
  ['/runsync', 'sync', 'COMPLETED'],
  ['/runsync that is not done', 'sync', 'IN_PROGRESS'],
] as const)('one job id for two POSTs to %s', (_, mode, status) => {
  it('leaves the first its job, and holds the second with both named [fault 12c]', async () => {
    const run = paperRun();
    run.manifest([job('a', { mode }), job('b', { mode }), job('c', { mode })]);
    answering(run, (row) => (row === 'c' ? 'job-c' : 'job-a'), status);
    const end = await run.start({ concurrency: 1, assumePriceUsd: 0.1, maxCostUsd: 1 });
    expect(end.exitCode).toBe(6);
    expect(run.lines('results.jsonl').map(({ id, jobId }) => [id, jobId])).toEqual([
      ['a', 'job-a'],
      ['c', 'job-c'],
    ]);
    expect(unknowns(run)).toEqual([['b', expect.stringMatching(/names job "job-a", which "a" has already/)]]);
    expect(end.summary.cost).toMatchObject({ estimated: 0.2, unknown: 0.1 });
    expect(run.costs()).toContainEqual(expect.objectContaining({ id: 'b', jobId: '', source: 'unknown' }));
    const again = await run.start({ assumePriceUsd: 0.1, maxCostUsd: 1 });
    expect(again.summary.cost).toMatchObject({ estimated: 0.2, unknown: 0.1 });
    expect(run.service.posts).toEqual(['a', 'b', 'c']);
  });

  it('holds over all starts, and for the same row bought again [fault 12c]', async () => {
    const run = paperRun();
    run.manifest([job('a', { mode })]);
    answering(run, () => 'job-a', status);
    await run.start();
    run.manifest([job('a', { mode, input: { row: 'a', changed: true } }), job('b', { mode })]);
    const end = await run.start({ changed: 'redo', concurrency: 1 });
    expect(end.exitCode).toBe(6);
    expect(unknowns(run)).toEqual([
      ['a', expect.stringContaining('which "a" has already')],
      ['b', expect.stringContaining('which "a" has already')],
    ]);
    expect(run.service.posts).toEqual(['a', 'a', 'b']);
  });
});

it('is the job of an earlier attempt as well, whose row was sent again and is in doubt [fault 12c]', async () => {
  const run = paperRun();
  run.manifest([job('a'), job('b')]);
  const answers = ['job-a', undefined, 'job-a'];
  run.service.behave = () => {
    const id = answers.shift();
    return id === undefined ? 'lose-answer' : { status: 200, body: { id, status: 'FAILED', error: 'no' } };
  };
  await run.start({ limit: 1 });
  await run.start({ retry: ['failed'], limit: 1 });
  expect((await run.start()).exitCode).toBe(6);
  expect(run.lines('failures.jsonl').map(({ id, error }) => [id, (error as { code: string }).code])).toEqual([
    ['a', 'unknown'],
    ['b', 'unknown'],
  ]);
  expect(unknowns(run).at(-1)?.[1]).toContain('names job "job-a", which "a" has already');
});

describe('what is no doubt', () => {
  it('is one id on two endpoints', async () => {
    const run = paperRun();
    run.manifest([job('a'), job('b', { endpoint: 'other' })]);
    answering(run, () => 'job');
    expect((await run.start()).exitCode).toBe(0);
  });

  it('is a job that is polled again by a later start', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    run.service.behave = () => 'hang';
    expect((await run.start({ timeoutMs: 1_000 })).exitCode).toBe(1);
    run.service.revive('job-a-1');
    expect((await run.start()).exitCode).toBe(0);
  });
});

it('takes a job that was bought elsewhere for one of the run', async () => {
  const run = paperRun();
  run.manifest([{ id: 'a', endpoint: 'echo', jobId: 'job-x' }, job('b')]);
  answering(run, () => 'job-x');
  expect((await run.start({ concurrency: 1 })).exitCode).toBe(6);
  expect(unknowns(run)).toEqual([['b', expect.stringContaining('which "a" has already')]]);
});

it('sends it again under --on-unknown retry, and counts a possible double', async () => {
  const run = paperRun();
  run.manifest([job('a'), job('b')]);
  let posts = 0;
  answering(run, () => (++posts <= 2 ? 'job-1' : `job-${posts}`));
  const end = await run.start({ concurrency: 1, onUnknown: 'retry', assumePriceUsd: 0.1 });
  expect(end.exitCode).toBe(0);
  expect(end.summary.cost).toMatchObject({ estimated: 0.2, unknown: 0.1, possiblyDouble: 0.1 });
});
