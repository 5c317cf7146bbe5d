import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { refetch } from '../../../../runners/batch/refetch.js';
import { runBatch, type StopOrder } from '../../../../runners/batch/run-batch.js';
import { settleRows } from '../../../../runners/batch/settle-row.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun, type PaperEnd, type PaperRun } from '../../../support/paper-run.js';

const first = ['a', 'b', 'c', 'd'].map((id) => edit(id));
/** As the gallery makes it. */
const redo = ['b', 'c', 'd'].map((id) => edit(id, { redo: `job of ${id}`, prompt: `${id}, warmer` }));

const ids = (run: PaperRun, file: string) =>
  run
    .lines(file)
    .map(({ id }) => String(id))
    .sort();
const warnings = ({ events }: PaperEnd) =>
  events.flatMap((event) => (event.type === 'warning' && event.code === 'changed' ? [event.message] : []));

async function bought(): Promise<PaperRun> {
  const run = paperRun();
  run.manifest(first);
  expect((await run.start()).exitCode).toBe(0);
  return run;
}

/** The rejected rows are bought again, all of them. */
async function redone(): Promise<PaperRun> {
  const run = await bought();
  run.manifest(redo);
  expect((await run.start({ changed: 'redo' })).exitCode).toBe(0);
  expect(run.service.posts).toHaveLength(7);
  return run;
}

describe('rows that were redone', () => {
  const saved = (prompt: string, attempt: number) =>
    edit('b', { redo: 'job of b', 'redo.attempt': attempt, prompt });
  const outdated = ({ events }: PaperEnd) =>
    events.flatMap((event) => (event.type === 'checked' ? [event.ahead.outdated?.first] : []))[0];

  it('are named where a manifest that an older report saved rejects a picture that was bought again since', async () => {
    const run = await bought();
    run.manifest([saved('b, warmer', 1)]);
    expect(outdated(await run.start({ changed: 'redo' }))).toBeUndefined();
    run.manifest([edit('a'), saved('b, colder', 1)]);
    const older = await run.start({ changed: 'redo', confirm: () => Promise.resolve(false) });
    expect({ ...older, outdated: outdated(older) }).toMatchObject({
      exitCode: 2,
      outdated: [{ id: 'b', line: 2 }],
    });
    run.manifest([saved('b, warmer', 1)]);
    expect(outdated(await run.start({ changed: 'redo' }))).toBeUndefined();
    run.manifest([saved('b, colder', 2)]);
    const newer = await run.start({ changed: 'redo' });
    expect({ exitCode: newer.exitCode, outdated: outdated(newer) }).toEqual({ exitCode: 0 });
    expect(run.service.posts).toEqual(['a', 'b', 'c', 'd', 'b, warmer', 'b, colder']);
    expect(run.lines('results.jsonl').find(({ id }) => id === 'b')).toMatchObject({
      attempts: 3,
      columns: { redo: 'job of b' },
    });
  });

  it('are named so from a CSV as well, also where what was rejected had failed and has completed since', async () => {
    const run = paperRun();
    run.manifest(first);
    run.service.behave = (row) => (row === 'b' ? 'fail' : 'complete');
    await run.start();
    run.service.behave = () => 'complete';
    await run.start({ retry: ['failed'] });
    run.manifest('id,endpoint,images,prompt,redo.attempt\nb,image-edit,http://example.test/a.png,warmer,1\n');
    const end = await run.start({ changed: 'redo', confirm: () => Promise.resolve(false) });
    expect(outdated(end)).toEqual([{ id: 'b', line: 2, sameAsLine: 0 }]);
  });

  it.each(['keep', 'redo'] as const)(
    'are no change in the manifest that they were first bought with, under changed %s',
    async (changed) => {
      const run = await redone();
      run.manifest(first);
      const end = await run.start({ changed });
      expect({ warnings: warnings(end), posts: run.service.posts.length }).toEqual({
        warnings: [],
        posts: 7,
      });
      expect(end.reason).toContain('Nothing to do');
    },
  );

  it('are known in all their versions from a snapshot as well', async () => {
    const run = await redone();
    run.manifest(redo.map((row) => ({ ...row, redo: 'the second one', prompt: 'cold' })));
    await run.start({ changed: 'redo' });
    await (await openJournal(run.disk, '/job/out', { snapshotEvery: 1 })).close();
    for (const rows of [first, redo]) {
      run.manifest(rows);
      expect(warnings(await run.start({ changed: 'redo' }))).toEqual([]);
    }
    expect(run.service.posts).toHaveLength(10);
  });

  it('stay in the results where they do not fit under the cap, and no rejected version is bought', async () => {
    const run = await bought();
    run.manifest(redo);
    const capped = await run.start({ changed: 'redo', maxCostUsd: 0.45, concurrency: 1 });
    expect(capped.exitCode).toBe(3);
    expect(capped.summary.rows).toEqual({ total: 4, completed: 4, failed: 0, toDo: 2 });
    expect(ids(run, 'results.jsonl')).toEqual(['a', 'b', 'c', 'd']);
    expect(ids(run, 'earlier.jsonl')).toEqual(['b']);
    run.manifest(first);
    expect((await run.start({ maxCostUsd: null })).reason).toContain('Nothing to do');
    expect(run.service.posts).toEqual(['a', 'b', 'c', 'd', 'b, warmer']);
    run.manifest(redo);
    expect((await run.start({ changed: 'redo' })).exitCode).toBe(0);
    expect(run.service.posts.slice(5).sort()).toEqual(['c, warmer', 'd, warmer']);
  });

  it('are not bought in the rejected version where the redo was interrupted, nor where it failed', async () => {
    const run = await bought();
    run.manifest(redo);
    run.service.behave = (row) => (row === 'b' ? 'fail' : 'complete');
    const stop = new Subject<StopOrder>();
    await run.follow(
      runBatch(run.options({ changed: 'redo', concurrency: 1, download: false, stop })),
      (event) => {
        if (event.type === 'ended') stop.next('graceful');
      },
    );
    const posts = [...run.service.posts];
    run.service.behave = () => 'complete';
    run.manifest(first);
    const later = await run.start({ retry: ['failed'] });
    expect(run.service.posts).toEqual(posts);
    expect(warnings(later)).toEqual([
      expect.stringMatching(
        /^\d rows? waits? for (?:another version|other versions), .*run the manifest that has the others?(?: one)?\.$/,
      ),
    ]);
    run.manifest(redo);
    expect((await run.start({ retry: ['failed'] })).exitCode).toBe(0);
    expect(ids(run, 'results.jsonl')).toEqual(['a', 'b', 'c', 'd']);
    expect(new Set(run.lines('results.jsonl').map(({ request }) => JSON.stringify(request))).size).toBe(4);
  });

  it('are not bought in the rejected version where that is written in another way', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    await run.start();
    run.manifest([edit('a', { prompt: 'warmer' })]);
    run.service.behave = () => 'fail';
    await run.start({ changed: 'redo' });
    run.service.behave = () => 'complete';
    run.manifest([edit('a', { resolution: '1k' })]);
    const later = await run.start({ retry: ['failed'] });
    expect(run.service.posts).toEqual(['a', 'warmer']);
    expect(warnings(later)).toEqual([expect.stringContaining('1 row waits for another version')]);
  });

  it('are named where another row asks for a version that was redone since, and no other version is', async () => {
    const run = paperRun();
    const asks = (id: string, prompt: string) => edit(id, { prompt });
    run.manifest([asks('a', 'first')]);
    await run.start();
    run.manifest([asks('a', 'second')]);
    expect((await run.start({ changed: 'redo' })).exitCode).toBe(0);
    const again = async (...rows: object[]) => {
      run.manifest(rows);
      const { events } = await run.start({ confirm: () => Promise.resolve(false) });
      return events.flatMap((event) => (event.type === 'checked' ? [event.ahead.bought?.first] : []))[0];
    };
    expect(await again(asks('a', 'second'), asks('b', 'first'))).toMatchObject([{ id: 'b', line: 2 }]);
    expect(await again(asks('b', 'second'), asks('a', 'first'))).toMatchObject([{ id: 'b', line: 1 }]);
    expect(await again(asks('a', 'second'), asks('b', 'third'))).toBeUndefined();
    expect(run.service.posts).toEqual(['first', 'second']);
  });
});

describe('the result of a row that is redone', () => {
  const warmer = redo.map((row, at) => ({ ...row, prompt: `${'bcd'[at]}-warmer` }));
  const paths = (run: PaperRun, file: string) =>
    new Map(run.lines(file).map(({ id, image }) => [id, (image as { path: string }).path]));
  const attempts = (run: PaperRun, file: string) =>
    run
      .lines(file)
      .map(({ id, attempts, millrace }) => {
        const facts = millrace as { attempts: number } | undefined;
        return `${String(id)} ${(attempts as number | undefined) ?? facts?.attempts}`;
      })
      .sort();
  const names = ['results.jsonl', 'failures.jsonl', 'earlier.jsonl', 'costs.csv'] as const;

  /** What the files hold is the same when they are written from the journal alone. */
  async function followsFromJournal(run: PaperRun): Promise<void> {
    const before = names.map((name) => run.text(name));
    for (const name of names) if (run.text(name) !== '') await run.disk.unlink(`/job/out/${name}`);
    await settleRows('/job/out', [], { disk: run.disk, scheduler: run.scheduler, hold: run.options().hold! });
    expect(names.map((name) => run.text(name))).toEqual(before);
  }

  it.each([
    ['failed', 'fail', ['failed']],
    ['may have been bought', 'lose-answer', ['unknown']],
  ] as const)('stays where the redo %s, until a later one completes', async (_, behaviour, retry) => {
    const run = await bought();
    const old = run.lines('results.jsonl');
    run.manifest(warmer);
    run.service.behave = () => behaviour;
    const { summary } = await run.start({ changed: 'redo' });
    expect(summary.rows).toMatchObject({ completed: 1, failed: 3, toDo: 0 });
    expect(run.lines('results.jsonl')).toEqual(old);
    expect(attempts(run, 'failures.jsonl')).toEqual(['b 2', 'c 2', 'd 2']);
    expect(run.text('earlier.jsonl')).toBe('');
    await followsFromJournal(run);
    run.service.behave = (row) => (row.startsWith('c') ? 'fail' : 'complete');
    await run.start({ retry: [...retry] });
    expect(attempts(run, 'results.jsonl')).toEqual(['a 1', 'b 3', 'c 1', 'd 3']);
    expect(attempts(run, 'failures.jsonl')).toEqual(['c 3']);
    expect(attempts(run, 'earlier.jsonl')).toEqual(['b 1', 'd 1']);
    await followsFromJournal(run);
    const [now, before] = [paths(run, 'results.jsonl'), paths(run, 'earlier.jsonl')];
    for (const path of [...now.values(), ...before.values()])
      expect(run.disk.peek(`/job/out/${path}`)?.length).toBeGreaterThan(0);
    expect(run.costs()).toHaveLength(4 + 3 + 3);
  });

  it('stays where the run is stopped before the row is sent, and refetch takes it for no result of the redo', async () => {
    const run = await bought();
    run.manifest(warmer);
    run.service.behave = (row) => (row.startsWith('b') ? 'fail' : 'complete');
    const { exitCode, summary } = await run.start({ changed: 'redo', halt: { count: 1 }, concurrency: 1 });
    expect({ exitCode, rows: summary.rows }).toEqual({
      exitCode: 5,
      rows: { total: 4, completed: 1, failed: 1, toDo: 2 },
    });
    expect(attempts(run, 'results.jsonl')).toEqual(['a 1', 'b 1', 'c 1', 'd 1']);
    await run.disk.unlink(`/job/out/${paths(run, 'results.jsonl').get('d')!}`);
    const { disk, scheduler } = run;
    const hold = run.options().hold!;
    const more = refetch('/job/out', {
      disk,
      scheduler,
      hold,
      saveFrom: run.service.download,
      random: () => 0.5,
    });
    expect((await run.follow(more)).summary.rows).toEqual(summary.rows);
    await followsFromJournal(run);
    run.service.behave = () => 'complete';
    await run.start({ changed: 'redo', retry: ['failed'] });
    expect(attempts(run, 'results.jsonl')).toEqual(['a 1', 'b 3', 'c 2', 'd 2']);
    expect(attempts(run, 'earlier.jsonl')).toEqual(['b 1', 'c 1', 'd 1']);
    await followsFromJournal(run);
  });

  it('is one purchase where a journal from before the redo is repaired by the files', async () => {
    const run = await bought();
    const before = new Map(run.disk.paths().map((path) => [path, run.disk.peek(path)!]));
    run.manifest(warmer);
    run.service.behave = (row) => (row.startsWith('b') ? 'fail' : 'complete');
    await run.start({ changed: 'redo', concurrency: 1 });
    const files = names.map((name) => attemptsOrCosts(run, name));
    const { cost } = JSON.parse(run.text('summary.json')) as PaperEnd['summary'];
    for (const name of ['journal.jsonl', 'summary.json']) {
      const path = `/job/out/${name}`;
      run.disk.plant(path, before.get(path)!);
    }
    expect((await run.start()).exitCode).toBe(74);
    const repaired = await run.start({ repair: true });
    expect(names.map((name) => attemptsOrCosts(run, name))).toEqual(files);
    expect(repaired.summary.cost).toMatchObject({ reported: cost.reported, unknown: 0 });
    expect(run.service.posts).toHaveLength(7);
  });

  function attemptsOrCosts(run: PaperRun, name: (typeof names)[number]): string[] {
    if (name !== 'costs.csv') return attempts(run, name);
    return run
      .costs()
      .map(({ id, attempt, cost }) => `${id} ${attempt} ${cost}`)
      .sort();
  }
});
