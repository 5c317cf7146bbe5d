import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readStatus } from '../../../../runners/batch/read-status.js';
import { runBatch } from '../../../../runners/batch/run-batch.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import { paperRun } from '../../../support/paper-run.js';

const jobs = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `j${n}`, endpoint: 'echo', input: { row: `j${n}` } }));
const misspelt = 'getaddrinfo ENOTFOUND api.example.con';

const noConnection = (code: string) =>
  throwError(() => new TransportError('connect', code, 'no', false, `connect ${code}`));

describe('a service that is not reached', () => {
  it.each([
    ['a name that does not exist ends the run after a few tries', 'ENOTFOUND', 12_000],
    ['another fault is tried as long as ever', 'ECONNREFUSED', undefined],
  ])('%s', async (_, systemCode, withinMs) => {
    const run = paperRun();
    run.manifest(jobs(40));
    const transport = () => throwError(() => new TransportError('lookup', systemCode, 'no', false, misspelt));
    const startedAt = run.scheduler.now();
    const end = await run.start({ transport });
    expect(end.exitCode).toBe(69);
    expect(end.reason).toContain(misspelt);
    expect(end.summary.rows).toMatchObject({ toDo: 40, failed: 0 });
    const took = run.scheduler.now() - startedAt;
    if (withinMs === undefined) expect(took).toBeGreaterThan(12_000);
    else expect(took).toBeLessThan(withinMs);
    // From the first failure on, and once in the log.
    const reported = end.events.findIndex(({ type }) => type === 'unreached');
    expect(reported).toBeLessThan(
      end.events.findIndex(({ type }) => type === 'stopping' || type === 'finished'),
    );
    expect(run.text('run.log').split(misspelt).length).toBeGreaterThan(1);
    expect(run.lines('run.log').filter(({ msg }) => msg === misspelt)).toHaveLength(1);
  });

  it.each([
    [
      'EMFILE',
      'too many files are open in this process (EMFILE). What has been done is kept. Raise the limit',
    ],
    ['ENFILE', 'too many files are open on this machine (ENFILE). What has been done is kept. Close some'],
  ])(
    'is not blamed where this machine opens no connection (%s): what is accepted stays so',
    async (code, reason) => {
      const run = paperRun();
      run.manifest(jobs(40));
      run.service.behave = () => 'hang';
      const transport: typeof run.service.transport = (request) =>
        run.service.posts.length >= 8 ? noConnection(code) : run.service.transport(request);
      const end = await run.start({ transport, concurrency: 20 });
      expect(end).toMatchObject({ exitCode: 74, reason: expect.stringContaining(reason) as string });
      expect(end.reason).toContain('lower --concurrency');
      expect(end.summary.rows).toEqual({ total: 40, completed: 0, failed: 0, toDo: 40 });
    },
  );

  it('is not blamed for it by a row that is tried once', async () => {
    const run = paperRun();
    run.manifest(jobs(2));
    const end = await run.start({ transport: () => noConnection('EMFILE'), retries: 0 });
    expect(end).toMatchObject({ exitCode: 74, summary: { rows: { failed: 0, toDo: 2 } } });
  });

  it('is waited for where connections fail because too many files are open, and others are answered', async () => {
    const run = paperRun();
    run.manifest(jobs(40));
    const fails = Array.from({ length: 400 }, (_, n) => n % 3 === 1);
    const transport: typeof run.service.transport = (request) =>
      fails.pop() === true ? noConnection('EMFILE') : run.service.transport(request);
    const end = await run.start({ transport, concurrency: 20 });
    expect(end).toMatchObject({ exitCode: 0, summary: { rows: { completed: 40 } } });
  });

  it('is waited for where its name does not resolve for a while, once it has answered', async () => {
    const run = paperRun();
    run.manifest(jobs(40));
    const awayFrom = run.scheduler.now() + 200;
    const isAway = () => run.scheduler.now() > awayFrom && run.scheduler.now() < awayFrom + 20_000;
    const transport: typeof run.service.transport = (request) =>
      isAway()
        ? throwError(() => new TransportError('lookup', 'ENOTFOUND', 'no', false, misspelt))
        : run.service.transport(request);
    const end = await run.start({ transport, concurrency: 4 });
    expect(end).toMatchObject({ exitCode: 0, summary: { rows: { completed: 40, toDo: 0 } } });
    expect(run.service.posts.toSorted()).toEqual(
      jobs(40)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  it('is what status says while the run goes, and all rows of the plan are counted from the start', async () => {
    const run = paperRun();
    run.manifest(jobs(40));
    let fails = true;
    const transport: typeof run.service.transport = (request) =>
      fails
        ? throwError(() => new TransportError('connect', 'ECONNREFUSED', 'no', false, 'connect ECONNREFUSED'))
        : run.service.transport(request);
    const seen: unknown[] = [];
    const looks: Promise<unknown>[] = [];
    const look = () =>
      void looks.push(readStatus('/job/out', { disk: run.disk }).then((one) => seen.push(one)));
    await run.follow(runBatch(run.options({ transport, concurrency: 4 })), (event) => {
      if (event.type !== 'row' || event.event.type !== 'waiting') return;
      look();
      fails = false;
    });
    await Promise.all(looks);
    expect(seen[0]).toMatchObject({ rows: { total: 40, toDo: 40 } });
    const { summary } = await readStatus('/job/out', { disk: run.disk });
    expect(summary?.thisStart.unreached).toBeUndefined();
  });
});
