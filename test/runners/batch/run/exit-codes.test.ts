import { concatMap, Observable, Subject, tap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { settleRow } from '../../../../runners/batch/settle-row.js';
import type { Disk } from '../../../../runners/batch/disk/disk.js';
import { LockError } from '../../../../runners/batch/lock/owner.js';
import {
  runBatch,
  type RunBatchOptions,
  type RunEvent,
  type StopOrder,
} from '../../../../runners/batch/run-batch.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { edit, job } from '../../../support/manifest-rows.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

const jobs = (count: number) => Array.from({ length: count }, (_, index) => job(`job-${index}`));

const free = () => Promise.resolve({ release: () => Promise.resolve() });

function ids(run: PaperRun, name: string): unknown[] {
  return run.lines(name).map(({ id }) => id);
}

describe('exit 0', () => {
  it('every row completed, and nothing to do at the next start', async () => {
    const run = paperRun();
    run.manifest([edit('a'), job('b')]);
    expect(await run.start()).toMatchObject({ exitCode: 0, reason: '2 rows completed.' });
    const again = await run.start();
    expect(again).toMatchObject({ exitCode: 0, reason: 'Nothing to do: every row had ended before.' });
    expect(run.service.posts).toEqual(['a', 'b']);
    expect(again.summary).toMatchObject({ starts: 2, rows: { total: 2, completed: 2, toDo: 0 } });
  });

  it('a manifest without rows', async () => {
    const run = paperRun();
    run.manifest('id,endpoint,input.row\n');
    expect(await run.start()).toMatchObject({
      exitCode: 0,
      reason: 'Nothing to do: the manifest has no rows.',
    });
  });
});

describe('exit 1', () => {
  it('some rows failed; a start that has nothing to do is no failure', async () => {
    const run = paperRun();
    run.service.behave = (row) => (row === 'b' ? 'fail' : 'complete');
    run.manifest([job('a'), job('b')]);
    const end = await run.start();
    expect(end.exitCode).toBe(1);
    expect(end.reason).toContain('1 of 2 rows failed');
    expect(end.reason).toContain('see failures.jsonl');
    expect((await run.start()).exitCode).toBe(0);
  });
});

describe('exit 1, of rows that are paid', () => {
  it.each([
    [['a'], '1 of 1 row is paid and still to be downloaded: see failures.jsonl.'],
    [['a', 'b'], '2 of 2 rows are paid and still to be downloaded: see failures.jsonl.'],
    [['a', 'lost'], '1 of 2 rows failed, 1 more is paid and still to be downloaded: see failures.jsonl.'],
  ])('%j: they have not failed', async (ids, reason) => {
    const run = paperRun();
    run.service.picture = () => 503;
    run.service.behave = (row) => (row === 'lost' ? 'fail' : 'complete');
    run.manifest(ids.map((id) => edit(id)));
    expect(await run.start()).toMatchObject({ exitCode: 1, reason });
  });
});

describe('exit 2', () => {
  it('invalid rows: each is named, nothing is sent, no folder is made', async () => {
    const run = paperRun();
    run.manifest([job('a'), edit('b', { resolution: '8k' }), { id: 'c', kind: 'dance' }]);
    const end = await run.start();
    expect(end.exitCode).toBe(2);
    expect(end.reason).toMatch(/line 2 .*8k.*line 3 /s);
    expect(run.service.posts).toEqual([]);
    expect(run.disk.paths()).toEqual(['/job/manifest.jsonl']);
  });

  it('another service, or the emulator, than the run was begun with', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    await run.start();
    const other = await run.start({ baseUrl: 'https://other.test' });
    expect(other).toMatchObject({ exitCode: 2 });
    expect(other.reason).toContain('https://paper.test');
    const identity = { baseUrl: 'https://paper.test', lbBaseUrl: '', local: true };
    expect((await run.start({ identity })).exitCode).toBe(2);
  });

  it.each([
    [{ only: ['a', 'nobody'] }, '"nobody"'],
    [{ concurrency: 0 }, 'concurrency'],
    [{ retry: ['sometimes'] }, 'sometimes'],
    [{ maxCostUsd: 1 }, 'no known price'],
    [{ confirm: () => false }, 'not started'],
  ])('%j', async (options, printed) => {
    const run = paperRun();
    run.manifest([job('a')]);
    const end = await run.start(options);
    expect(end.exitCode).toBe(2);
    expect(end.reason).toContain(printed);
    expect(run.service.posts).toEqual([]);
  });

  it('rows that ask for the same, where that is refused, as long as one of them would be sent', async () => {
    const run = paperRun();
    const same = [job('a'), job('b', { input: { row: 'a' } }), job('c')];
    run.manifest(same);
    const refused = await run.start({ same: 'refuse' });
    expect(refused.exitCode).toBe(2);
    expect(refused.reason).toContain('line 2 (id "b") asks for the same as line 1');
    expect(run.service.posts).toEqual([]);
    const ahead: unknown[] = [];
    const confirm: RunBatchOptions['confirm'] = (_plan, { same: found }) => ahead.push(found.rows) > 0;
    expect((await run.start({ confirm, only: ['a', 'c'] })).exitCode).toBe(0);
    expect((await run.start({ confirm })).exitCode).toBe(0);
    expect((await run.start({ confirm, same: 'refuse' })).exitCode).toBe(0);
    expect(ahead).toEqual([0, 1, 0]);
  });

  it('a row that asks for what a row behind it has bought, where that is refused', async () => {
    const run = paperRun();
    run.manifest([job('a'), job('b')]);
    await run.start();
    run.manifest([
      job('new', { input: { row: 'b' } }),
      job('a'),
      job('b'),
      job('c', { input: { row: 'b' } }),
    ]);
    const ahead: unknown[] = [];
    const confirm: RunBatchOptions['confirm'] = (_plan, { same: found }) => ahead.push(found.rows) > 0;
    const refused = await run.start({ same: 'refuse', only: ['new'] });
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.reason).toContain('line 1 (id "new") asks for the same as line 3');
    expect(run.service.posts).toEqual(['a', 'b']);
    expect((await run.start({ confirm })).exitCode).toBe(0);
    expect(ahead).toEqual([2]);
  });

  it('a manifest that is missing', async () => {
    const run = paperRun();
    const end = await run.start({ manifest: { path: '/job/none.csv' } });
    expect(end.exitCode).toBe(2);
    expect(end.reason).toContain('/job/none.csv');
  });

  it('a host that is missing', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    const options: Partial<RunBatchOptions> = run.options();
    delete (options as { baseUrl?: string }).baseUrl;
    expect((await run.follow(runBatch(options as RunBatchOptions))).reason).toContain('base_url');
  });
});

describe('exit 3', () => {
  it('the cap: what is in flight ends, rows beyond have no outcome, a higher cap goes on', async () => {
    const run = paperRun();
    run.manifest(['a', 'b', 'c', 'd', 'e'].map((id) => edit(id)));
    const end = await run.start({ maxCostUsd: 0.2, concurrency: 1 });
    expect(end.exitCode).toBe(3);
    expect(end.reason).toContain('$0.20');
    expect(end.summary).toMatchObject({
      rows: { completed: 2, failed: 0, toDo: 3 },
      cost: { reported: 0.175 },
    });
    expect((await run.start({ maxCostUsd: 1 })).exitCode).toBe(0);
    expect(ids(run, 'results.jsonl').sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it.each([1, 8])(
    'the first row that does not fit stops the run, though a cheaper one behind it would fit, %i at once',
    async (concurrency) => {
      const run = paperRun();
      const disk = Object.assign(run.disk, { freeBytes: () => Promise.resolve(2 ** 40) });
      run.manifest([edit('a'), edit('b', { resolution: '4k' }), edit('c')]);
      const end = await run.start({ maxCostUsd: 0.2, concurrency, disk });
      expect(end.exitCode).toBe(3);
      expect(run.service.posts).toEqual(['a']);
    },
  );

  it('counts what earlier starts spent, and what is held as unknown', async () => {
    const run = paperRun();
    run.service.behave = (row) => (row === 'b' ? 'lose-answer' : 'complete');
    run.manifest([edit('a'), edit('b'), edit('c')]);
    await run.start({ only: ['a', 'b'] });
    const end = await run.start({ maxCostUsd: 0.2 });
    expect(end.exitCode).toBe(3);
    expect(run.service.posts).toEqual(['a', 'b']);
  });
});

describe('exit 4', () => {
  it('a refused key: nothing more is sent, what was accepted is polled to its end [fault 6]', async () => {
    const run = paperRun();
    const refusal = { status: 401, body: { error: 'invalid key' } };
    run.service.behave = (row) => (row === 'job-0' ? 'complete' : refusal);
    run.manifest(jobs(50));
    const end = await run.start({ concurrency: 2 });
    expect(end.exitCode).toBe(4);
    expect(end.reason).toContain('invalid key');
    expect(ids(run, 'results.jsonl')).toEqual(['job-0']);
    expect(run.lines('failures.jsonl')).toEqual([]);
    expect(run.service.posts).toEqual(['job-0']);
    expect(end.summary.rows.toDo).toBe(49);
  });

  it('an account without credit: nothing more is sent, instead of asking for ever', async () => {
    const run = paperRun();
    let refusals = 0;
    const refuse = () => {
      refusals++;
      return { status: 402, body: { error: 'insufficient credits' } };
    };
    run.service.behave = (row) => (row === 'job-0' ? 'complete' : refuse());
    run.manifest(jobs(50));
    const end = await run.start({ concurrency: 2 });
    expect(end.exitCode).toBe(4);
    expect(end.reason).toContain('insufficient credits');
    expect(ids(run, 'results.jsonl')).toEqual(['job-0']);
    expect(end.summary).toMatchObject({ rows: { toDo: 49, failed: 0 }, cost: { unknown: 0 } });
    expect(refusals).toBeLessThanOrEqual(2);
    run.service.behave = () => 'complete';
    expect((await run.start()).summary.rows.completed).toBe(50);
  });

  it('an unknown endpoint is blocked after the first refusal; when none is left the run stops [fault 7]', async () => {
    const run = paperRun();
    let asked = 0;
    run.service.behave = () => {
      asked++;
      return { status: 404, body: { error: 'no such endpoint' } };
    };
    run.manifest(jobs(500));
    const end = await run.start({ concurrency: 4 });
    expect(end.exitCode).toBe(4);
    expect(asked).toBeLessThanOrEqual(4);
    expect(end.summary.rows).toMatchObject({ failed: 0, toDo: 500 });
  });

  it('rows of other endpoints go on [fault 7]', async () => {
    const run = paperRun();
    const asked: string[] = [];
    run.service.behave = (row) => {
      asked.push(row);
      return row.startsWith('gone') ? { status: 404, body: { error: 'none' } } : 'complete';
    };
    run.manifest([
      job('gone-1', { endpoint: 'gone' }),
      job('a'),
      job('gone-2', { endpoint: 'gone' }),
      job('b'),
    ]);
    const end = await run.start({ concurrency: 1 });
    expect(end.exitCode).toBe(4);
    expect(end.reason).toContain('"gone"');
    expect(ids(run, 'results.jsonl')).toEqual(['a', 'b']);
    expect(asked).toEqual(['gone-1', 'a', 'b']);
    expect(end.summary.rows.toDo).toBe(2);
  });

  it('a certificate that is not right [fault 10]', async () => {
    const run = paperRun();
    run.service.behave = () => 'insecure';
    run.manifest(jobs(20));
    const end = await run.start({ concurrency: 2 });
    expect(end.exitCode).toBe(4);
    expect(end.summary.rows.toDo).toBe(20);
  });
});

describe('exit 5', () => {
  it.each([{ count: 3 }, { percent: 15 }])('--halt %j', async (halt) => {
    const run = paperRun();
    run.service.behave = () => 'fail';
    run.manifest(jobs(20));
    const end = await run.start({ halt, concurrency: 1 });
    expect(end.exitCode).toBe(5);
    expect(run.lines('failures.jsonl')).toHaveLength(3);
    expect(end.summary.rows.toDo).toBe(17);
  });
});

describe('exit 6', () => {
  it('rows are held because they may have been accepted', async () => {
    const run = paperRun();
    run.service.behave = (row) => (row === 'b' ? 'lose-answer' : row === 'c' ? 'fail' : 'complete');
    run.manifest([edit('a'), edit('b'), job('c')]);
    const end = await run.start();
    expect(end.exitCode).toBe(6);
    expect(end.reason).toContain('settle');
    expect(end.summary).toMatchObject({
      failures: { unknown: 1, 'job-failed': 1 },
      cost: { unknown: 0.0875 },
    });
    expect((await run.start()).exitCode).toBe(6);
    expect(run.service.executions.get('b')).toBe(1);
  });

  it('is given by each start until a person has decided, also where there is nothing to do', async () => {
    const run = paperRun();
    run.service.behave = (row) => (row === "it's b" ? 'lose-answer' : 'complete');
    run.manifest([job('a'), job("it's b")]);
    await run.start();
    const idle = await run.start();
    expect(idle).toMatchObject({ exitCode: 6 });
    expect(idle.reason).toContain(
      `1 row is in doubt: charged or not, nobody knows yet ("it's b"). Look at the account; \`millrace settle /job/out\` lists the ways to decide.`,
    );
    run.manifest([job('c')]);
    expect((await run.start()).exitCode).toBe(6);
    run.manifest([job('d')]);
    run.service.behave = (row) => (row === 'd' ? 'fail' : 'complete');
    expect((await run.start()).exitCode).toBe(6);
    await settleRow('/job/out', "it's b", { notSent: true }, { disk: run.disk, hold: free });
    expect((await run.start()).exitCode).toBe(0);
  });

  it.each([0, 2])(
    'a row whose answers are lost is sent again as often as it may, %i times, where the risk is taken',
    async (retries) => {
      const run = paperRun();
      run.service.behave = () => 'lose-answer';
      run.manifest([edit('a')]);
      expect(await run.start({ onUnknown: 'retry', retries })).toMatchObject({ exitCode: 6 });
      expect(run.service.executions.get('a')).toBe(1 + retries);
      expect(run.costs().map(({ attempt, source }) => `${attempt} ${source}`)).toEqual(
        Array.from({ length: 1 + retries }, (_, nth) => `${nth + 1} unknown`),
      );
    },
  );

  it('a row whose answer is lost while the run stops is held, also where the risk is taken', async () => {
    const run = paperRun();
    run.service.behave = () => 'lose-answer';
    run.manifest([edit('a')]);
    const stop = new Subject<StopOrder>();
    const watch = (event: RunEvent) => {
      if (event.type === 'row' && event.event.type === 'submitting') stop.next('graceful');
    };
    const end = await run.follow(runBatch(run.options({ onUnknown: 'retry', stop })), watch);
    expect(end).toMatchObject({ exitCode: 130, summary: { failures: { unknown: 1 }, rows: { toDo: 0 } } });
    expect((await run.start()).exitCode).toBe(6);
    expect(run.service.executions.get('a')).toBe(1);
  });

  it('stands behind the stops, and is gone once the row was sent again', async () => {
    const run = paperRun();
    run.service.behave = (row, nth) => (row === 'a' && nth === 1 ? 'lose-answer' : 'complete');
    run.manifest([edit('a'), edit('b')]);
    expect((await run.start({ maxCostUsd: 0.1 })).exitCode).toBe(3);
    const end = await run.start({ retry: ['unknown'], maxCostUsd: null });
    expect(end).toMatchObject({ exitCode: 0, summary: { failures: {}, cost: { possiblyDouble: 0.0875 } } });
  });
});

describe('exit 3, and rows that wait to be sent again', () => {
  const priced = { assumePriceUsd: 0.1, concurrency: 4 };

  it('a row whose tries were refused is sent again, though a later one did not fit', async () => {
    const run = paperRun();
    run.manifest(['a', 'b', 'c'].map((id) => job(id)));
    run.service.behave = (row, nth) => (row === 'a' && nth <= 2 ? 'busy' : 'complete');
    const end = await run.start({ ...priced, retries: 1, maxCostUsd: 0.25 });
    expect(end).toMatchObject({ exitCode: 3, summary: { rows: { completed: 2, failed: 0, toDo: 1 } } });
    expect(run.service.posts.toSorted()).toEqual(['a', 'b']);
    expect(ids(run, 'results.jsonl').toSorted()).toEqual(['a', 'b']);
    expect(end.summary.cost).toMatchObject({ estimated: 0.2, unknown: 0 });
  });

  it('a row in doubt is sent again where that is wanted and fits, though a later one did not', async () => {
    const run = paperRun();
    run.manifest(['a', 'b', 'c', 'd'].map((id) => job(id)));
    run.service.behave = (row, nth) =>
      row === 'a' && nth === 1 ? 'lose-answer' : row === 'b' ? 'fail' : 'complete';
    const transport: Transport = (request) =>
      timer(request.body?.includes('"a"') === true ? 1_000 : 0, run.scheduler).pipe(
        concatMap(() => run.service.transport(request)),
      );
    const end = await run.start({ ...priced, transport, onUnknown: 'retry', maxCostUsd: 0.35 });
    expect(end).toMatchObject({ exitCode: 3, summary: { rows: { completed: 2, failed: 1, toDo: 1 } } });
    expect(run.service.posts.toSorted()).toEqual(['a', 'a', 'b', 'c']);
    expect(ids(run, 'results.jsonl').toSorted()).toEqual(['a', 'c']);
    expect(end.summary.cost).toMatchObject({ estimated: 0.2, unknown: 0.1, possiblyDouble: 0.1 });
  });
});

describe('exit 69', () => {
  it.each(['unreachable', 'busy'] as const)('nothing gets through: %s [fault 1]', async (behaviour) => {
    const run = paperRun();
    run.service.behave = () => behaviour;
    run.manifest(jobs(1_000));
    const end = await run.start();
    expect(end.exitCode).toBe(69);
    expect(run.service.posts).toEqual([]);
    expect(end.summary).toMatchObject({
      rows: { failed: 0, toDo: 1_000 },
      cost: { reported: 0, unknown: 0 },
    });
  });

  it('a row whose tries are used up tries anew while others get through', async () => {
    const run = paperRun();
    run.service.behave = (row, nth) => (row === 'job-3' && nth < 12 ? 'busy' : 'complete');
    run.manifest(jobs(200));
    const waits: { at: number; forMs: number; nextAt?: number }[] = [];
    const started = runBatch(run.options({ concurrency: 4, retries: 1 }));
    const end = await run.follow(started, (event) => {
      if (event.type !== 'row' || event.id !== 'job-3') return;
      const at = run.scheduler.now();
      const last = waits.at(-1);
      if (last !== undefined) last.nextAt ??= at;
      if (event.event.type === 'waiting') waits.push({ at, forMs: event.event.forMs });
    });
    expect(end.exitCode).toBe(0);
    expect(run.service.executions.size).toBe(200);
    expect(waits.length).toBeGreaterThan(5);
    expect(waits.filter(({ at, forMs, nextAt = 0 }) => nextAt < at + forMs)).toEqual([]);
    expect(Math.max(...waits.map(({ forMs }) => forMs))).toBeGreaterThan(4 * (waits[0]?.forMs ?? Infinity));
  });
});

describe('exit 74', () => {
  it('a row whose picture went while the manifest was worked off: what is in flight ends [fault 27]', async () => {
    const run = paperRun();
    run.manifest(Array.from({ length: 60 }, (_, at) => edit(`edit-${at}`, { images: [`${at}.png`] })));
    let isThere = true;
    const resolveImage = (path: string) =>
      isThere || path !== '40.png' ? `http://example.test/${path}` : { problem: 'is not there' };
    const { path } = run.options().manifest as { path: string };
    const confirm = () => !(isThere = false);
    const end = await run.start({ manifest: { path, resolveImage }, confirm, concurrency: 4 });
    expect(end.exitCode).toBe(74);
    expect(end.reason).toMatch(/manifest changed .*line 41 .*40\.png.* is not there/s);
    expect(run.lines('results.jsonl')).toHaveLength(40);
    expect(
      (await run.start({ manifest: { path, resolveImage: () => 'http://example.test/x.png' } })).exitCode,
    ).toBe(0);
    expect([...run.service.executions.values()].every((count) => count === 1)).toBe(true);
  });

  it.each(['journal.jsonl', 'results.jsonl', 'costs.csv'])(
    'the disk is full for %s, and the run goes on later',
    async (path) => {
      const run = paperRun();
      run.manifest(jobs(30));
      const manifest = run.disk.peek('/job/manifest.jsonl') ?? '';
      run.disk = new ForgetfulDisk({
        faults: [{ code: 'ENOSPC', call: 'write', path, nth: 9, lasting: true }],
      });
      run.disk.plant('/job/manifest.jsonl', manifest);
      const end = await run.start({ concurrency: 2 });
      expect(end.exitCode).toBe(74);
      expect(end.reason).toContain(path);
      expect(run.service.executions.size).toBeLessThan(30);
      run.disk.heal();
      const again = await run.start({ concurrency: 2 });
      expect([0, 6]).toContain(again.exitCode);
      expect([...ids(run, 'results.jsonl'), ...ids(run, 'failures.jsonl')]).toHaveLength(30);
      expect([...run.service.executions.values()].every((count) => count === 1)).toBe(true);
    },
  );

  it.each([
    { where: 'in the reply itself', behaviour: 'inline' },
    { where: 'at its URL', behaviour: 'complete' },
  ] as const)(
    'no room for a picture $where: it is paid, kept, and saved by the next start',
    async ({ behaviour }) => {
      const run = paperRun();
      run.service.behave = () => behaviour;
      run.manifest([edit('a'), edit('b'), edit('c')]);
      const manifest = run.disk.peek('/job/manifest.jsonl') ?? '';
      run.disk = new ForgetfulDisk({
        faults: [{ code: 'ENOSPC', call: 'write', path: '.part', lasting: true }],
      });
      run.disk.plant('/job/manifest.jsonl', manifest);
      const end = await run.start({ concurrency: 1 });
      expect(end.exitCode).toBe(74);
      expect(end.reason).toContain('images/');
      expect(run.lines('results.jsonl')).toEqual([]);
      run.disk.heal();
      const again = await run.start({ concurrency: 1 });
      expect(again).toMatchObject({ exitCode: 0, summary: { cost: { reported: 0.2625, unknown: 0 } } });
      expect(run.service.posts).toEqual(['a', 'b', 'c']);
      const paths = run.lines('results.jsonl').map(({ image }) => (image as { path: string }).path);
      expect(paths.sort()).toEqual(['images/a.png', 'images/b.png', 'images/c.png']);
      expect(run.text('results.jsonl')).not.toContain('base64');
      expect(run.costs().map(({ id, cost }) => [id, cost])).toEqual([
        ['a', '0.0875'],
        ['b', '0.0875'],
        ['c', '0.0875'],
      ]);
    },
  );

  it('a folder of pictures that is a link [fault 18]', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    run.disk.plant('/job/out/journal.jsonl', '');
    run.disk.plant('/job/out/images', 'in the way');
    const end = await run.start();
    expect(end.exitCode).toBe(74);
    expect(run.service.posts).toEqual([]);
  });
});

describe('exit 75', () => {
  it('another process holds the run', async () => {
    const run = paperRun();
    run.manifest([job('a')]);
    const hold = () => Promise.reject(new LockError('held', 'The run is held by process 7'));
    expect(await run.start({ hold })).toMatchObject({ exitCode: 75, reason: 'The run is held by process 7' });
  });
});

describe('exit 70', () => {
  it('a fault of millrace itself ends the run, and the next start goes on', async () => {
    const run = paperRun();
    run.manifest([edit('a'), job('b'), ...jobs(20)]);
    const random = (): number => {
      throw new Error('chance is broken');
    };
    run.service.behave = (row) => (row === 'b' ? 'busy' : 'complete');
    const end = await run.start({ random, concurrency: 2, retries: 0 });
    expect(end.exitCode).toBe(70);
    expect(run.text('run.log')).toContain('chance is broken');
    // What was paid for and on its way is not given up.
    expect(run.lines('journal.jsonl').filter(({ k, id }) => k === 'reply' && id === 'a')).toHaveLength(1);
    run.service.behave = () => 'complete';
    expect((await run.start()).summary.rows).toMatchObject({ completed: 22, toDo: 0 });
    expect([...run.service.executions.values()].every((count) => count === 1)).toBe(true);
  });
});

describe('exit 130 and 143', () => {
  async function interrupted(orders: readonly StopOrder[], sync: boolean) {
    const run = paperRun();
    run.service.behave = (row) => (row === 'job-1' ? 'hang' : 'complete');
    run.manifest(jobs(40).map((row) => ({ ...row, mode: undefined })));
    const stop = new Subject<StopOrder>();
    let accepted = 0;
    const watch = (event: RunEvent): void => {
      if (event.type === 'row' && event.event.type === 'accepted' && ++accepted === 3)
        for (const order of orders) stop.next(order);
    };
    const manifest = { path: '/job/manifest.jsonl', ...(sync && { mode: 'sync' as const }) };
    const end = await run.follow(runBatch(run.options({ stop, concurrency: 3, manifest })), watch);
    return { run, end };
  }

  it('the first stop leaves journalled ids, and the next start polls them before it sends anything [fault 16]', async () => {
    const { run, end } = await interrupted([{ how: 'graceful', exitCode: 143 }], false);
    expect(end.exitCode).toBe(143);
    expect(run.service.posts).toHaveLength(3);
    expect(run.lines('failures.jsonl')).toEqual([]);
    const before = run.service.gets.length;
    run.service.behave = () => 'complete';
    const again = await run.start({ timeoutMs: 60_000 });
    expect(run.service.gets.slice(before, before + 3).sort()).toEqual([
      'job-job-0-1',
      'job-job-1-1',
      'job-job-2-1',
    ]);
    expect(again.summary.failures).toEqual({ deadline: 1 });
    expect(run.lines('results.jsonl')).toHaveLength(39);
    expect([...run.service.executions.values()].every((count) => count === 1)).toBe(true);
  });

  it('a second stop ends at once, and can be gone on with', async () => {
    const { run, end } = await interrupted(['graceful', 'now'], false);
    expect(end.exitCode).toBe(130);
    run.service.behave = () => 'complete';
    await run.start({ timeoutMs: 60_000 });
    expect([...run.service.executions.values()].every((count) => count === 1)).toBe(true);
    expect(run.lines('results.jsonl')).toHaveLength(39);
  });

  it('a reply of /runsync that is on its way is paid for, and awaited [fault 16]', async () => {
    const run = paperRun();
    run.manifest(['a', 'b', 'c', 'd'].map((id) => edit(id)));
    const stop = new Subject<StopOrder>();
    const watch = (event: RunEvent): void => {
      if (event.type === 'row' && event.event.type === 'submitting') stop.next('graceful');
    };
    const end = await run.follow(runBatch(run.options({ stop, concurrency: 1 })), watch);
    expect(end.exitCode).toBe(130);
    expect(run.service.posts).toEqual(['a']);
    expect((await run.start()).exitCode).toBe(0);
    expect(run.service.posts).toEqual(['a', 'b', 'c', 'd']);
    expect(ids(run, 'results.jsonl')).toContain('a');
  });

  it.each([[['graceful']], [['graceful', 'now']]] as const)(
    'a row whose job has ended when %j comes is written to its end [fault 16]',
    async (orders) => {
      const run = paperRun();
      run.manifest([job('a'), job('b')]);
      const stop = new Subject<StopOrder>();
      const transport: Transport = (request) =>
        new Observable((subscriber) =>
          run.service.transport(request).subscribe({
            next(reply) {
              subscriber.next(reply);
              subscriber.complete();
              // Behind all that the reply leads to at once.
              if (reply.body.includes('COMPLETED')) for (const order of orders) stop.next(order);
            },
            error: (error: unknown) => subscriber.error(error),
          }),
        );
      const end = await run.follow(runBatch(run.options({ stop, transport, concurrency: 1 })));
      expect(end.exitCode).toBe(130);
      expect(end.summary.rows).toMatchObject({ total: 2, completed: 1 });
      expect(ids(run, 'results.jsonl')).toEqual(['a']);
      expect(run.costs()).toMatchObject([{ id: 'a' }]);
    },
  );

  it('a row whose job has ended when a stop comes is waited for by its run, however slow the disk is [fault 16]', async () => {
    const run = paperRun();
    run.manifest([job('a'), job('b')]);
    const stop = new Subject<StopOrder>();
    const open: Disk['open'] = async (path, flags) => {
      const file = await run.disk.open(path, flags);
      const { sync } = file;
      return Object.assign(file, {
        sync: async () => {
          await new Promise<void>((resolve) => run.scheduler.schedule(() => resolve(), 3_000));
          await sync.call(file);
        },
      });
    };
    const disk = Object.assign(Object.create(run.disk) as Disk, { open });
    const transport: Transport = (request) =>
      run.service.transport(request).pipe(
        tap((reply) => {
          if (reply.body.includes('COMPLETED')) run.scheduler.schedule(() => stop.next('graceful'), 500);
        }),
      );
    const end = await run.follow(runBatch(run.options({ stop, disk, transport, concurrency: 1 })));
    expect(end.exitCode).toBe(130);
    expect(end.summary.rows).toMatchObject({ total: 2, completed: 1, toDo: 1 });
    expect(ids(run, 'results.jsonl')).toEqual(['a']);
  });

  it('a picture in a reply is saved to its end, and its row with it, when a stop comes meanwhile [fault 16]', async () => {
    const run = paperRun();
    run.service.behave = () => 'inline';
    run.manifest([edit('a'), edit('b')]);
    const stop = new Subject<StopOrder>();
    const open: Disk['open'] = async (path, flags) => {
      const file = await run.disk.open(path, flags);
      if (path.includes('/images/')) {
        stop.next('graceful');
        await new Promise<void>((resolve) => run.scheduler.schedule(() => resolve(), 3_000));
      }
      return file;
    };
    const disk = Object.assign(Object.create(run.disk) as Disk, { open });
    const manifest = { path: '/job/manifest.jsonl', mode: 'async' as const };
    const end = await run.follow(runBatch(run.options({ stop, disk, manifest, concurrency: 1 })));
    expect(end).toMatchObject({ exitCode: 130, summary: { rows: { completed: 1, toDo: 1 } } });
    expect(run.lines('results.jsonl')).toMatchObject([{ id: 'a', image: { path: 'images/a.png' } }]);
    expect(run.costs()).toMatchObject([{ id: 'a', cost: '0.0875', source: 'reported' }]);
    expect([...run.service.bill]).toEqual([['a', 87_500]]);
    expect(run.service.gets.length).toBeGreaterThan(0);
  });

  it('a request that the journal has noted and that was not sent yet is not sent after a second stop [fault 16]', async () => {
    const run = paperRun();
    run.manifest([edit('a')]);
    const stop = new Subject<StopOrder>();
    const open: Disk['open'] = async (path, flags) => {
      const file = await run.disk.open(path, flags);
      const { sync } = file;
      return Object.assign(file, {
        sync: async () => {
          await sync.call(file);
          if (run.text('journal.jsonl').includes('"k":"intent"'))
            for (const order of ['graceful', 'now'] as const) stop.next(order);
          await new Promise<void>((resolve) => run.scheduler.schedule(() => resolve(), 10));
        },
      });
    };
    const disk = Object.assign(Object.create(run.disk) as Disk, { open });
    const end = await run.follow(runBatch(run.options({ stop, disk })));
    expect(end.exitCode).toBe(130);
    expect(run.service.bill).toEqual(new Map());
    expect(run.service.posts).toEqual([]);
    expect(await run.start()).toMatchObject({ exitCode: 0, summary: { rows: { completed: 1 } } });
    expect(run.service.posts).toEqual(['a']);
    expect(run.costs()).toMatchObject([{ id: 'a', cost: '0.0875', source: 'reported' }]);
  });

  it('a GET that is on its way is left at once: it can be repeated for free [fault 16]', async () => {
    const run = paperRun();
    run.manifest([{ id: 'a', route: 'a', method: 'GET' }]);
    const stop = new Subject<StopOrder>();
    const watch = (event: RunEvent): void => {
      if (event.type === 'row' && event.event.type === 'submitting') stop.next('graceful');
    };
    const begin = run.scheduler.now();
    const transport: Transport = (request) =>
      timer(60_000, run.scheduler).pipe(concatMap(() => run.service.transport(request)));
    const end = await run.follow(runBatch(run.options({ stop, transport })), watch);
    expect(end).toMatchObject({ exitCode: 130, summary: { rows: { completed: 0, failed: 0, toDo: 1 } } });
    expect(run.scheduler.now() - begin).toBeLessThan(10_000);
    expect(await run.start()).toMatchObject({ exitCode: 0, summary: { rows: { completed: 1 } } });
  });

  it('a reply that is on its way is left by a second stop, and its row is held by the next start [fault 16]', async () => {
    const run = paperRun();
    const { service, scheduler } = run;
    const transport: Transport = (request) =>
      timer(60_000, scheduler).pipe(concatMap(() => service.transport(request)));
    run.manifest([edit('a')]);
    const stop = new Subject<StopOrder>();
    const watch = (event: RunEvent): void => {
      if (event.type === 'row' && event.event.type === 'submitting')
        for (const order of ['graceful', 'now'] as const) stop.next(order);
    };
    expect((await run.follow(runBatch(run.options({ stop, transport })), watch)).exitCode).toBe(130);
    expect((await run.start()).exitCode).toBe(6);
    expect(run.lines('failures.jsonl')).toMatchObject([{ id: 'a', error: { code: 'unknown' } }]);
  });
});

describe('exit 69 with many rows in flight', () => {
  it('a service that does not answer ends the run within minutes, however many rows wait', async () => {
    const run = paperRun();
    run.manifest(jobs(200));
    const begin = run.scheduler.now();
    const away = () =>
      throwError(() => new TransportError('connect', 'ECONNREFUSED', 'no', false, 'connect ECONNREFUSED'));
    const end = await run.start({ transport: away, concurrency: 50 });
    const ms = run.scheduler.now() - begin;
    expect(end).toMatchObject({ exitCode: 69, summary: { rows: { toDo: 200 }, cost: { unknown: 0 } } });
    expect(ms).toBeGreaterThan(100_000);
    expect(ms).toBeLessThan(240_000);
  });
});
