import { Subject, tap } from 'rxjs';
import { expect, it } from 'vitest';
import { readStatus } from '../../../../runners/batch/read-status.js';
import { runBatch, type StopOrder } from '../../../../runners/batch/run-batch.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun } from '../../../support/paper-run.js';

const journal = '/job/out/journal.jsonl';

it('makes the thumbnail of a picture that came in the reply once the reply is durable, and not before', async () => {
  const run = paperRun();
  run.service.behave = () => 'inline';
  run.manifest([edit('a')]);
  let made = 0;
  const makeThumbnail = () => {
    made++;
    const { log } = run.disk;
    expect(run.text('journal.jsonl')).toMatch(/"k":"reply".*\n.*"k":"outcome"/);
    expect(log.lastIndexOf(`sync ${journal}`)).toBeGreaterThan(log.lastIndexOf(`write ${journal}`));
    return Promise.resolve(undefined);
  };
  expect(await run.start({ makeThumbnail })).toMatchObject({ exitCode: 0 });
  expect(made).toBe(1);
});

it('names both a signal and the journal that failed after it [fault 16]', async () => {
  const run = paperRun({
    faults: [{ code: 'ENOSPC', path: journal, call: 'write', nth: 3, lasting: true }],
  });
  run.manifest([edit('a'), edit('b')]);
  const stop = new Subject<StopOrder>();
  const end = await run.follow(runBatch(run.options({ stop, concurrency: 1 })), (event) => {
    if (event.type === 'row' && event.event.type === 'submitting') stop.next('graceful');
  });
  expect(end.exitCode).toBe(130);
  expect(end.reason).toMatch(/^Interrupted\. .*journal\.jsonl.*space/);
});

it('names the job in costs.csv also where the reply that ends the row is the first that tells its id', async () => {
  const run = paperRun();
  run.service.behave = (row) => (row === 'inline' ? 'inline' : { output: { said: row } });
  run.manifest([edit('inline'), { id: 'job', endpoint: 'echo', input: { row: 'job' } }]);
  const { manifest } = run.options();
  expect(await run.start({ manifest: { ...manifest, mode: 'sync' }, concurrency: 1 })).toMatchObject({
    exitCode: 0,
  });
  const jobIds = run.lines('results.jsonl').map(({ id, jobId }) => [id, jobId]);
  expect(jobIds).toEqual([
    ['inline', 'job-inline-1'],
    ['job', 'job-job-1'],
  ]);
  expect(run.costs().map(({ id, jobId }) => [id, jobId])).toEqual(jobIds);
});

it('warns of edits that are answered with the picture of another row, once with both names and at the end with their number', async () => {
  const run = paperRun();
  const image_url = 'http://127.0.0.1/pictures/of-somebody.png';
  run.service.behave = (row) => (row === 'own' ? 'complete' : { output: { image_url } });
  run.manifest([
    edit('own'),
    edit('a'),
    edit('b'),
    edit('c'),
    { id: 'job', endpoint: 'echo', input: { row: 'job' } },
  ]);
  const { events } = await run.start({ concurrency: 1, download: false });
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  expect(warnings).toEqual([
    expect.stringMatching(/^Row "b" was answered with the address of the picture of row "a": /),
    expect.stringMatching(/^2 edits of this start were answered with the address of another row's picture/),
  ]);
});

it('warns once of edits that are paid for and come without a picture, counts them at the end, and warns of nothing else', async () => {
  const run = paperRun();
  run.service.behave = (row) =>
    row === 'with' ? 'complete' : { output: { image_url: 'file:///etc/passwd' } };
  run.manifest([
    edit('with'),
    edit('without'),
    edit('neither'),
    { id: 'job', endpoint: 'echo', input: { row: 'job' } },
  ]);
  const { exitCode, events } = await run.start({ concurrency: 1 });
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  expect(exitCode).toBe(0);
  expect(warnings).toEqual([
    expect.stringMatching(/^Row "without" completed, but its reply has no picture: .*results\.jsonl/),
    expect.stringMatching(
      /^2 edits completed in this start without a picture in their replies, and are paid: /,
    ),
  ]);
});

it('tells of money that is paid for a picture that is not saved yet, until it is', async () => {
  const run = paperRun({
    faults: [{ code: 'ENOSPC', path: '/job/out/images/', call: 'write', lasting: true }],
  });
  run.manifest([edit('a')]);
  const full = await run.start();
  expect(full.exitCode).toBe(74);
  expect(full.summary.cost).toMatchObject({ reported: 0, unsaved: 0.0875 });
  expect((await readStatus('/job/out', { disk: run.disk })).cost).toMatchObject({
    reported: 0,
    unsaved: 0.0875,
  });
  run.disk.heal();
  const { summary } = await run.start();
  expect(summary.cost.reported).toBe(0.0875);
  expect(summary.cost.unsaved).toBeUndefined();
  expect(run.service.posts).toEqual(['a']);
});

it('writes the row of a job that has ended to its end, also where the run is to stop at once while its picture is saved', async () => {
  const run = paperRun();
  run.service.behave = () => 'inline';
  run.manifest([edit('a')]);
  const stop = new Subject<StopOrder>();
  const transport: Transport = (request) =>
    run.service.transport(request).pipe(
      tap(({ body }) => {
        if (!body.includes('COMPLETED')) return;
        queueMicrotask(() => stop.next('graceful'));
        queueMicrotask(() => stop.next('now'));
      }),
    );
  const { manifest } = run.options();
  const end = await run.start({ stop, transport, manifest: { ...manifest, mode: 'async' } });
  expect(end.exitCode).toBe(130);
  expect(run.lines('results.jsonl').map(({ id }) => id)).toEqual(['a']);
  expect(run.disk.peek('/job/out/images/a.png')).toBeDefined();
  expect(run.costs()).toHaveLength(1);
});
