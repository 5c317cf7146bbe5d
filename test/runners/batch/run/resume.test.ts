import { delay, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  runBatch,
  runStages,
  type RunBatchOptions,
  type RunEvent,
  type RunStages,
  type StopOrder,
} from '../../../../runners/batch/run-batch.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { edit, job } from '../../../support/manifest-rows.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

/** Kills the run when an event of this kind has been seen, as by a power cut that loses nothing. */
async function killedAt(
  run: PaperRun,
  isMoment: (event: RunEvent) => boolean,
  options: Partial<RunBatchOptions> = {},
) {
  const before = run.disk;
  await run.follow(runBatch(run.options(options)), (event) => {
    if (!before.crashed && isMoment(event)) run.disk = before.handOver();
  });
  expect(before.crashed).toBe(true);
}

const step = (type: string) => (event: RunEvent) => event.type === 'row' && event.event.type === type;
const kinds = (run: PaperRun, id: string) =>
  run
    .lines('journal.jsonl')
    .filter((record) => record['id'] === id)
    .map(({ k }) => k);

describe('a run that died and is started again', () => {
  it('while the request was out: unknown, held, announced, and never sent again [fault 15]', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await killedAt(run, step('submitting'), { concurrency: 1 });
    const end = await run.start({ concurrency: 1 });
    expect(end.exitCode).toBe(6);
    expect(end.events).toContainEqual(expect.objectContaining({ type: 'ended', id: 'a', status: 'unknown' }));
    expect(run.lines('failures.jsonl')).toMatchObject([
      { id: 'a', error: { code: 'unknown', paid: 'maybe' } },
    ]);
    expect(run.costs()).toMatchObject([
      { id: 'a', source: 'unknown', cost: '0.0875' },
      { id: 'b', source: 'reported' },
    ]);
    expect(end.summary.cost).toMatchObject({ reported: 0.0875, unknown: 0.0875, possiblyDouble: 0 });
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it.each([
    ['whose price nobody agrees to', { confirm: () => Promise.resolve(false) }],
    ['against another service', { baseUrl: 'https://other.test' }],
    ['under a daily cap whose ledger cannot be read', { maxCostPerDayUsd: 5, ledgerFile: '/job/damaged' }],
  ])('and is refused, as a start %s: the files have all that the journal knows', async (_, options) => {
    const run = paperRun();
    run.manifest([job('a'), job('b'), job('c')]);
    let submitted = 0;
    await killedAt(run, (event) => step('submitting')(event) && ++submitted === 3, { concurrency: 1 });
    // The lines of the last rows were not on the disk yet.
    for (const name of ['results.jsonl', 'costs.csv'])
      run.disk.plant(`/job/out/${name}`, `${run.text(name).split('\n').slice(0, -2).join('\n')}\n`);
    run.disk.plant('/job/damaged', 'no ledger\n');
    expect((await run.start(options)).summary).toBeUndefined();
    expect(run.lines('results.jsonl').map(({ id }) => id)).toEqual(['a', 'b']);
    expect(run.costs()).toMatchObject([{ id: 'a' }, { id: 'b' }]);
    expect(JSON.parse(run.text('summary.json'))).toMatchObject({
      rows: { total: 3, completed: 2, toDo: 1 },
      pending: { sent: 1 },
    });
    expect(await run.start()).toMatchObject({ exitCode: 6, summary: { rows: { completed: 2, failed: 1 } } });
  });

  it('and ends again before it sends anything, after it has reopened a row: the summary counts that row as to be done', async () => {
    const run = paperRun();
    run.manifest([job('a'), job('b')]);
    run.service.behave = (id) => (id === 'b' ? 'fail' : 'complete');
    expect((await run.start()).exitCode).toBe(1);
    const rename = run.disk.rename.bind(run.disk);
    let isBroken = true;
    run.disk.rename = async (from, to) => {
      const breaks = isBroken && to.endsWith('failures.jsonl');
      isBroken &&= !breaks;
      if (breaks) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      await rename(from, to);
    };
    expect(await run.start({ retry: ['failed'] })).toMatchObject({ exitCode: 74 });
    expect(run.service.posts).toEqual(['a', 'b']);
    expect(run.lines('failures.jsonl')).toEqual([]);
    expect(JSON.parse(run.text('summary.json'))).toMatchObject({
      rows: { completed: 1, failed: 0, toDo: 1 },
    });
  });

  it.each([
    ['is refused', false, 2],
    ['is agreed to', true, 74],
  ])(
    'and %s after its folder was moved away: nothing is written in its place',
    async (_, agreed, exitCode) => {
      const run = paperRun();
      run.manifest([job('a'), job('b')]);
      await killedAt(run, step('submitting'), { concurrency: 1 });
      const confirm = async (): Promise<boolean> => {
        run.disk.moveFolder('/job/out', '/job/moved');
        await run.disk.mkdir('/job/out');
        return agreed;
      };
      expect(await run.start({ confirm })).toMatchObject({ exitCode });
      expect(run.service.posts).toEqual(['a']);
      expect(await run.disk.list('/job/out')).not.toContain('costs.csv');
    },
  );

  it('while the request was out: no row that failed in the next start, so --halt does not count it', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b'), edit('c'), edit('d')]);
    await killedAt(run, step('submitting'), { concurrency: 1 });
    run.service.behave = (row) => (row === 'c' ? 'fail' : 'complete');
    const end = await run.start({ concurrency: 1, halt: { count: 2 } });
    expect(end.exitCode).toBe(6);
    expect(end.summary.rows).toMatchObject({ completed: 2, failed: 2, toDo: 0 });
  });

  it('and neither does it count a row that is held because it may have been bought elsewhere', async () => {
    const run = paperRun();
    const held = {
      error: { code: 'unknown', message: '', paid: 'maybe' },
      millrace: { row: 1, attempts: 1 },
    };
    run.manifest([{ ...edit('a'), ...held }, edit('b'), edit('c')]);
    expect(await run.start({ concurrency: 1, halt: { count: 1 } })).toMatchObject({ exitCode: 6 });
    expect(run.service.posts).toEqual(['b', 'c']);
  });

  it('holds a redo under onUnknown retry where the manifest has the version that it replaces', async () => {
    const run = paperRun();
    const first = [edit('a')];
    const redo = [edit('a', { redo: 'job of a', prompt: 'a, warmer' })];
    run.manifest(first);
    await run.start();
    run.manifest(redo);
    await killedAt(run, step('submitting'), { changed: 'redo' });
    run.manifest(first);
    const held = await run.start({ onUnknown: 'retry' });
    expect(held.exitCode).toBe(6);
    expect(held.events).toContainEqual(
      expect.objectContaining({ type: 'checked', ahead: expect.objectContaining({ doubled: 0 }) }),
    );
    expect(run.service.posts).toEqual(['a', 'a, warmer']);
    run.manifest(redo);
    expect((await run.start({ retry: ['unknown'] })).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'a, warmer', 'a, warmer']);
  });

  it('the same under onUnknown retry: sent again, and counted as a possible double', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await killedAt(run, step('submitting'), { concurrency: 1 });
    const end = await run.start({ concurrency: 1, onUnknown: 'retry' });
    expect(end.exitCode).toBe(0);
    // Its price is agreed to as that of any other row.
    expect(end.events).toContainEqual(
      expect.objectContaining({
        type: 'checked',
        ahead: expect.objectContaining({
          toSend: 1,
          doubled: 1,
          price: { estimated: 175_000, unpriced: 0 },
          fits: { rows: 2, estimated: 175_000 },
        }),
      }),
    );
    expect(run.service.posts).toEqual(['a', 'a', 'b']);
    expect(
      run
        .costs()
        .map(({ id, attempt, source }) => `${id} ${attempt} ${source}`)
        .sort(),
    ).toEqual(['a 1 unknown', 'a 2 reported', 'b 1 reported']);
    expect(end.summary.cost).toMatchObject({ reported: 0.175, unknown: 0.0875, possiblyDouble: 0.0875 });
    expect(end.events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'double' }));
  });

  it('names the time at which the request left, whichever start its job ends in', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    const { transport } = run.service;
    (run.service as { transport: Transport }).transport = (request) =>
      transport(request).pipe(delay(30_000, run.scheduler));
    await run.start({ timeoutMs: 31_000 });
    const [late] = run.lines('failures.jsonl');
    expect(late).toMatchObject({ error: { code: 'deadline' } });
    await run.start({ timeoutMs: 31_000, retry: ['deadline'] });
    const submittedAt = (late?.['millrace'] as { submittedAt: string }).submittedAt;
    expect(run.lines('results.jsonl')).toMatchObject([{ id: 'a', submittedAt }]);
  });

  it('while its job ran: the id is polled at the journalled endpoint, and nothing is sent', async () => {
    const run = paperRun();
    run.manifest([job('a', { endpoint: 'first' })]);
    await killedAt(run, step('accepted'));
    run.manifest([job('a', { endpoint: 'second' })]);
    const end = await run.start();
    expect(end.exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a']);
    expect(run.lines('results.jsonl')).toMatchObject([
      { id: 'a', endpoint: 'first', jobId: 'job-a-1', attempts: 1 },
    ]);
  });

  it.each([
    ['an hour', 3_600_000],
    ['a year', 365 * 86_400_000],
  ])(
    'while its job ran, and the clock was set back by %s since: its polls go on [fault 19]',
    async (_, ms) => {
      const run = paperRun();
      run.manifest([job('a')]);
      run.service.behave = () => 'hang';
      await killedAt(run, step('accepted'));
      run.scheduler.frame -= ms;
      const startedAt = run.scheduler.now();
      const end = await run.follow(runBatch(run.options()), (event) => {
        if (step('status')(event)) run.service.revive('job-a-1');
      });
      expect(end.exitCode).toBe(0);
      expect(run.scheduler.now() - startedAt).toBeLessThan(60_000);
    },
  );

  it('with more ids than slots: all are polled at once, whatever takes long in front of them', async () => {
    const run = paperRun();
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    run.manifest(ids.map((id) => job(id)));
    run.service.behave = () => 'hang';
    let accepted = 0;
    await killedAt(run, (event) => step('accepted')(event) && ++accepted === ids.length, { concurrency: 6 });
    run.manifest([...ids, 'new', 'last'].map((id) => job(id)));
    run.service.behave = () => 'complete';
    for (const id of ids.slice(2)) run.service.revive(`job-${id}-1`);
    const end = await run.start({ concurrency: 2, timeoutMs: 60_000 });
    const ended = end.events.flatMap((event) => (event.type === 'ended' ? [event.id] : []));
    expect(ended.slice(0, 4).sort()).toEqual(['c', 'd', 'e', 'f']);
    expect(ended.slice(4)).toEqual(['new', 'last', 'a', 'b']);
    expect(end.summary.failures).toEqual({ deadline: 2 });
  });

  it('stopped at once while its request is out: what that may cost is told as reserved, until it has ended', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    run.service.behave = () => 'never';
    const stop = new Subject<StopOrder>();
    const end = await run.follow(runBatch(run.options({ stop })), (event) => {
      if (step('submitting')(event)) stop.next('now');
    });
    expect(end.summary).toMatchObject({ rows: { toDo: 1 }, cost: { reported: 0, reserved: 0.0875 } });
    const { cost } = (await run.start()).summary;
    expect(cost).toMatchObject({ unknown: 0.0875 });
    expect(cost.reserved).toBeUndefined();
  });

  it('ids are polled before anything new is sent, the oldest first', async () => {
    const run = paperRun();
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    run.manifest(ids.map((id) => job(id)));
    let accepted = 0;
    await killedAt(run, (event) => step('accepted')(event) && ++accepted === 3, { concurrency: 3 });
    const sent = run.service.posts.length;
    const polled = run.service.gets.length;
    await run.start({ concurrency: 3 });
    expect(run.service.gets.slice(polled, polled + 3)).toEqual(['job-a-1', 'job-b-1', 'job-c-1']);
    expect(run.service.posts.slice(sent)).toEqual(['d', 'e', 'f']);
  });

  it('while its picture was fetched: it is fetched again, bought never', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    await killedAt(run, step('settled'));
    expect(kinds(run, 'a')).toEqual(['intent', 'reply']);
    const end = await run.start();
    expect(end).toMatchObject({ exitCode: 0, summary: { cost: { reported: 0.0875 } } });
    expect(run.service.posts).toEqual(['a']);
    expect(run.lines('results.jsonl')).toMatchObject([{ image: { path: 'images/a.png' }, cost: 0.0875 }]);
    expect(run.costs()).toMatchObject([{ id: 'a', source: 'reported', cost: '0.0875' }]);
  });

  it('a picture in the reply itself is saved before the reply is journalled, and no base64 stays', async () => {
    const run = paperRun();
    run.service.behave = () => 'inline';
    run.manifest([edit('a')]);
    expect((await run.start()).exitCode).toBe(0);
    expect(run.lines('results.jsonl')).toMatchObject([
      { output: { image: 'images/a.png' }, image: { path: 'images/a.png' } },
    ]);
    expect(run.text('journal.jsonl')).not.toContain('base64,');
    expect(run.disk.peek('/job/out/images/a.png')?.length).toBe(70);
  });

  it('takes up where it stopped when half of the rows were done', async () => {
    const run = paperRun();
    const rows = Array.from({ length: 60 }, (_, index) =>
      index % 2 === 0 ? edit(`r${index}`) : job(`r${index}`),
    );
    run.manifest(rows);
    let ended = 0;
    await killedAt(run, (event) => event.type === 'ended' && ++ended === 30);
    const end = await run.start();
    const started = end.events.find((event) => event.type === 'started');
    expect(started?.alreadyEnded).toBeGreaterThanOrEqual(30);
    expect(started?.rowsTotal).toBe(60);
    expect(end.summary.rows).toMatchObject({ total: 60, toDo: 0 });
    expect([...run.service.executions.values()].every((count) => count === 1)).toBe(true);
    expect(
      new Set(run.lines('results.jsonl').map(({ id }) => id)).size + run.lines('failures.jsonl').length,
    ).toBe(60);
  });
});

describe('the manifest at a later start', () => {
  it('new rows at its end are done, the others are not', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    await run.start();
    run.manifest([job('a'), job('b')]);
    const end = await run.start();
    expect(end).toMatchObject({ exitCode: 0, reason: '1 row completed.' });
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('a row that was bought and has changed since is named and kept [fault 27]', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    run.manifest([edit('a', { prompt: 'other' }), edit('b')]);
    const end = await run.start();
    const warning = end.events.find((event) => event.type === 'warning' && event.code === 'changed');
    const message =
      '1 row has changed since it was bought: a. It is kept; --changed redo buys it again, --changed keep ends this warning.';
    expect(warning).toMatchObject({ message });
    const decided = await run.start({ changed: 'keep' });
    expect(decided.events.filter(({ type }) => type === 'warning')).toEqual([]);
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('a row that asks for what another row has bought, as after a line was inserted above, is named with it [fault 27]', async () => {
    const run = paperRun();
    run.manifest([edit('1', { prompt: 'dusk' }), edit('2', { prompt: 'dawn' })]);
    await run.start();
    run.manifest([edit('1', { prompt: 'noon' }), edit('2', { prompt: 'dusk' })]);
    const { events } = await run.start({ confirm: () => Promise.resolve(true) });
    expect(events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))).toEqual([
      '2 rows have changed since they were bought: 1, 2. They are kept; --changed redo buys them again, --changed keep ends this warning. Row "2" asks for what row "1" bought: the ids have probably moved to other rows. Give the rows the ids they had, or their results belong to other lines and to buy them again pays twice.',
    ]);
    expect(run.service.posts).toEqual(['dusk', 'dawn']);
  });

  it('a row that asks for what was bought under an earlier id is named with that id, not with one that failed', async () => {
    const run = paperRun();
    const boughtAs = async (id: string) => {
      run.manifest([edit(id, { prompt: 'dusk' })]);
      const { events } = await run.start();
      return events.flatMap((event) =>
        event.type === 'checked' ? [event.ahead.bought?.first[0]?.boughtAs] : [],
      );
    };
    run.service.behave = () => 'fail';
    await boughtAs('first');
    run.service.behave = () => 'complete';
    await boughtAs('second');
    expect(await boughtAs('third')).toEqual(['second']);
  });

  it('a row that was bought and is invalid since keeps its end, and is not bought again once it is mended [fault 27]', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    run.manifest([edit('a', { resolution: '8k' }), edit('b')]);
    const end = await run.start({ skipInvalid: true });
    expect(end.summary.rows).toMatchObject({ completed: 2, failed: 0 });
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    expect(run.service.posts).toEqual(['a', 'b']);
  });

  it('a row in doubt whose line is invalid since stays in doubt, also where such rows are sent again [fault 15]', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    await killedAt(run, step('submitting'));
    run.manifest([edit('a', { resolution: '8k' })]);
    const end = await run.start({ skipInvalid: true, onUnknown: 'retry' });
    expect(end.exitCode).toBe(6);
    expect(run.lines('failures.jsonl')).toMatchObject([{ id: 'a', error: { code: 'unknown' } }]);
  });

  it('a row that has failed and is invalid since has one failure, and is sent again once it is mended and asked for [fault 27]', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    run.service.behave = (row) => (row === 'a' ? 'fail' : 'complete');
    await run.start();
    run.service.behave = () => 'complete';
    run.manifest([edit('a', { resolution: '8k' }), edit('b')]);
    const end = await run.start({ skipInvalid: true, retry: ['failed'] });
    expect(end.summary.rows).toMatchObject({ completed: 1, failed: 1, toDo: 0 });
    expect(run.lines('failures.jsonl')).toMatchObject([{ id: 'a', error: { code: 'job-failed' } }]);
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    expect(run.service.posts).toEqual(['a', 'b']);
    await run.start({ retry: ['failed'] });
    expect(run.service.posts).toEqual(['a', 'b', 'a']);
    expect(run.text('failures.jsonl')).toBe('');
  });

  it('a row in which default values are written out or left out has not changed, and is not bought again', async () => {
    const run = paperRun();
    const written = { resolution: '1k', output_format: 'png', enable_base64_output: false };
    run.manifest([edit('a'), edit('b', written), edit('c', { resolution: '1k' })]);
    await run.start();
    const warned = async (rows: Parameters<typeof run.manifest>[0], options?: Partial<RunBatchOptions>) => {
      run.manifest(rows);
      const { events } = await run.start(options);
      return events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    };
    expect(await warned([edit('a', written), edit('b'), edit('c', { output_format: 'png' })])).toEqual([]);
    const redoes = [edit('a', { resolution: '1k', redo: 'blurred' }), edit('b'), edit('c')];
    expect(await warned(redoes, { changed: 'redo' })).toEqual([]);
    expect(run.service.posts).toEqual(['a', 'b', 'c', 'a']);
    const rewritten = [
      edit('a', { redo: 'blurred' }),
      edit('b', written),
      edit('c', { aspect_ratio: '1:1' }),
    ];
    expect(await warned(rewritten)).toEqual([
      expect.stringContaining('1 row has changed since it was bought: c'),
    ]);
    expect(await warned(rewritten, { changed: 'redo' })).toEqual([]);
    expect(run.service.posts).toEqual(['a', 'b', 'c', 'a', 'c']);
  });

  it.each<[string, (run: PaperRun, options: Partial<RunBatchOptions>) => Promise<unknown>]>([
    ['whose job goes on', (run, options) => killedAt(run, step('accepted'), options)],
    [
      'whose job is polled again after its deadline',
      (run, options) => {
        run.service.behave = () => 'hang';
        return run.start({ ...options, timeoutMs: 1_000 });
      },
    ],
  ])('a row %s and that has changed since is named at once [fault 27]', async (_, first) => {
    const run = paperRun();
    run.manifest([edit('a', { prompt: 'one' })]);
    const options = { manifest: { ...run.options().manifest, mode: 'async' } } as const;
    await first(run, options);
    run.manifest([edit('a', { prompt: 'two' })]);
    run.service.revive('job-one-1');
    const end = await run.start(options);
    const message =
      '1 row has changed since it was bought: a. It is kept; --changed redo buys it again, --changed keep ends this warning.';
    expect(end.events).toContainEqual({ type: 'warning', code: 'changed', message });
    expect(run.lines('results.jsonl')).toMatchObject([{ id: 'a', request: { input: { prompt: 'one' } } }]);
  });

  it('a row that has changed and that a redo leaves for later is named', async () => {
    const run = paperRun();
    run.manifest([edit('a', { prompt: 'one' }), edit('b')]);
    await run.start();
    run.manifest([edit('a', { prompt: 'two' }), edit('b')]);
    const end = await run.start({ changed: 'redo', only: ['b'] });
    const changed = { count: 1, ids: ['a'] };
    expect(end.events).toContainEqual(
      expect.objectContaining({ type: 'checked', ahead: expect.objectContaining({ changed }) }),
    );
  });

  describe('whose journal is behind the files beside it', () => {
    const journal = '/job/out/journal.jsonl';
    it.each<[string, (run: PaperRun, older: string) => Promise<unknown> | void]>([
      ['gone', (run) => run.disk.unlink(journal)],
      [
        'emptied, and the summary gone',
        async (run) => {
          run.disk.plant(journal, '');
          await run.disk.unlink('/job/out/summary.json');
        },
      ],
      ['put back from before', (run, older) => run.disk.plant(journal, older)],
    ])('%s: buys nothing, and takes nothing out of the files [fault 20]', async (_, lose) => {
      const run = paperRun();
      run.manifest([edit('a')]);
      await run.start();
      const older = run.text('journal.jsonl');
      run.manifest([edit('a'), edit('b')]);
      await run.start();
      const results = run.text('results.jsonl');
      await lose(run, older);
      for (let start = 1; start <= 2; start++) {
        const { exitCode, reason } = await run.start();
        expect({ exitCode, reason }).toEqual({
          exitCode: 74,
          reason: expect.stringContaining('has lost records') as string,
        });
      }
      expect(run.service.posts).toEqual(['a', 'b']);
      expect(run.text('results.jsonl')).toBe(results);
    });
  });

  it('rows that the manifest has lost still count, as they stand in the files', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    run.manifest([edit('b'), edit('c')]);
    const { summary, events } = await run.start();
    expect(summary.rows).toEqual({ total: 3, completed: 3, failed: 0, toDo: 0 });
    expect(run.service.posts).toEqual(['a', 'b', 'c']);
    expect(events.find(({ type }) => type === 'checked')).toMatchObject({ ahead: { ended: 1, gone: 1 } });
  });

  it('or bought again: its earlier line and picture stay', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await run.start();
    run.service.behave = () => 'inline';
    run.manifest([edit('a', { resolution: '2k' }), edit('b')]);
    expect((await run.start({ changed: 'redo' })).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b', 'a']);
    expect(run.lines('results.jsonl').map(({ id, attempts }) => [id, attempts])).toEqual([
      ['b', 1],
      ['a', 2],
    ]);
    expect(run.lines('earlier.jsonl')).toMatchObject([
      { id: 'a', attempts: 1, image: { path: 'images/a.png' } },
    ]);
    expect(run.costs()).toHaveLength(3);
    expect((await run.start({ changed: 'redo' })).reason).toContain('Nothing to do');
  });

  it('another picture under the same name does not replace the earlier one', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    run.disk.plant('/job/out/journal.jsonl', '');
    run.disk.plant('/job/out/images/a.png', 'somebody else put this here');
    await run.start();
    const [line] = run.lines('results.jsonl') as { image: { path: string } }[];
    expect(line?.image.path).toMatch(/^images\/a~[0-9a-f]{10}\.png$/);
    expect(run.disk.peek('/job/out/images/a.png')?.toString()).toBe('somebody else put this here');
  });

  it('a row that holds only a jobId collects that job and buys nothing', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    const stop = new Subject<StopOrder>();
    await run.follow(runBatch(run.options({ stop })), (event) => {
      if (step('accepted')(event)) stop.next('now');
    });
    const other = paperRun();
    other.manifest([{ id: 'mine', jobId: 'job-a-1', endpoint: 'echo' }]);
    const { transport, download } = run.service;
    const end = await other.startBeside(run, { transport, saveFrom: download, maxCostUsd: 0 });
    expect(end.exitCode).toBe(0);
    expect(other.lines('results.jsonl')).toMatchObject([
      { id: 'mine', jobId: 'job-a-1', output: { echo: 'a' } },
    ]);
    expect(other.costs()).toEqual([]);
    expect(run.service.posts).toEqual(['a']);
  });
});

describe('the files of a run', () => {
  it.each(['results.jsonl', 'failures.jsonl', 'costs.csv', 'summary.json'])(
    '%s is written anew when it is gone or damaged',
    async (name) => {
      const run = paperRun();
      run.service.behave = (row) => (row === 'c' ? 'fail' : 'complete');
      run.manifest([edit('a'), job('b'), job('c')]);
      await run.start();
      const whole = run.text(name);
      for (const damage of ['', whole.slice(0, -3), `${whole}torn`]) {
        if (damage === '') await run.disk.unlink(`/job/out/${name}`);
        else run.disk.plant(`/job/out/${name}`, damage);
        expect((await run.start()).exitCode).toBe(0);
        if (name !== 'summary.json') expect(run.text(name)).toBe(whole);
        else expect(JSON.parse(run.text(name))).toMatchObject({ rows: { completed: 2, failed: 1 } });
      }
    },
  );

  it('a CSV manifest has results.csv and failures.csv as well, for spreadsheets', async () => {
    const run = paperRun();
    run.service.behave = (row) => (row === '=b' ? 'reject' : 'complete');
    run.manifest(
      'id,endpoint,images,prompt,note\na,image-edit,http://e.test/a.png,a,"x, y"\nb,image-edit,http://e.test/a.png,=b,=1+1\n',
    );
    await run.start({ concurrency: 1 });
    const [head, row] = run.text('results.csv').split('\n');
    expect(head).toBe(
      'id,row,kind,endpoint,jobId,status,image,imageUrl,imageExpiresAt,cost,delayTime,executionTime,attempts,submittedAt,settledAt,output,images,prompt,resolution,aspect_ratio,output_format,enable_base64_output,note',
    );
    expect(row).toMatch(/^a,1,edit,image-edit,job-a-1,completed,images\/a\.png,.*,"x, y"$/);
    const [failed] = run.text('failures.csv').split('\n').slice(1);
    expect(failed).toMatch(/^b,image-edit,http:\/\/e\.test\/a\.png,'=b,'=1\+1,rejected,/);
    const before = [run.text('results.csv'), run.text('failures.csv')];
    await run.disk.unlink('/job/out/results.csv');
    await run.start();
    expect([run.text('results.csv'), run.text('failures.csv')]).toEqual(before);
  });

  it('no id stands in both files, and a failed row leaves failures.csv as well when it is taken up', async () => {
    const run = paperRun();
    run.service.behave = (row) => (row === 'a' ? 'fail' : 'complete');
    run.manifest('id,endpoint,input.row\na,echo,a\nb,echo,b\n');
    await run.start();
    expect(run.text('failures.csv')).toContain('\na,');
    run.service.behave = () => 'complete';
    await run.start({ retry: ['failed'] });
    expect(run.text('failures.csv').split('\n')).toHaveLength(2);
    expect(
      run
        .text('results.csv')
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0]),
    ).toEqual(['b', 'a']);
  });
});

describe('rows whose request was out when the run died', () => {
  it('are not taken up by --retry unknown of the same start, but of the next', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    await killedAt(run, step('submitting'), { concurrency: 1 });
    expect((await run.start({ retry: ['unknown'] })).exitCode).toBe(6);
    expect(run.service.posts).toEqual(['a', 'b']);
    expect((await run.start({ retry: ['unknown'] })).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b', 'a']);
    expect(run.lines('failures.jsonl')).toEqual([]);
    expect(
      run
        .lines('results.jsonl')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['a', 'b']);
  });

  it('do not count for --limit, and a GET that was out is simply done again', async () => {
    const run = paperRun();
    const rows = [edit('a'), { id: 'info', route: '/info', method: 'GET' }, job('c'), job('d')];
    run.manifest(rows);
    await killedAt(
      run,
      (event) => event.type === 'row' && event.id === 'info' && event.event.type === 'submitting',
      { concurrency: 2 },
    );
    const end = await run.start({ onUnknown: 'retry', limit: 2, concurrency: 1 });
    expect(end.exitCode).toBe(0);
    expect(end.summary.rows).toMatchObject({ completed: 3, toDo: 1 });
    expect(run.service.posts).toEqual(['a', 'a', 'c']);
  });
});

describe('summary.json', () => {
  it('is written every few seconds while the run goes', async () => {
    const run = paperRun();
    run.manifest(Array.from({ length: 60 }, (_, index) => job(`j${index}`)));
    const begin = run.scheduler.now();
    await killedAt(run, () => run.scheduler.now() > begin + 6_000, { concurrency: 1 });
    const summary = JSON.parse(run.text('summary.json')) as { rows: Record<string, number>; times: object };
    expect(summary.rows['completed']).toBeGreaterThan(5);
    expect(summary.rows['toDo']).toBe(60 - (summary.rows['completed'] ?? 0));
    expect(summary.times).not.toHaveProperty('endedAt');
    const end = await run.start();
    expect(end.summary).toMatchObject({
      rows: { completed: 60, toDo: 0 },
      starts: 2,
      thisStart: { exitCode: 0 },
    });
  });
});

describe('a run whose tasks fail while a request is out', () => {
  it('awaits the reply, which is paid, and leaves nothing in doubt', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    const stages: RunStages = {
      ...runStages,
      async *takeRows(it) {
        for await (const task of runStages.takeRows(it)) {
          yield task;
          while (run.service.posts.length === 0) await new Promise(setImmediate);
          throw new Error('the manifest broke off');
        }
      },
    };
    const broken = await run.follow(runBatch(run.options({ concurrency: 2 }), stages));
    expect(broken).toMatchObject({
      exitCode: 70,
      reason: expect.stringContaining('the manifest broke off') as string,
    });
    expect(kinds(run, 'a')).toContain('reply');
    expect((await run.start()).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b']);
  });
});
