import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { databaseOfRun } from '../../../runners/distributed/collector/run-note.js';
import { remoteStatus } from '../../../runners/distributed/remote-status.js';
import { settleRemote, type RemoteSettlement } from '../../../runners/distributed/settle-remote.js';
import { openDatabase, type TestDatabase } from '../../support/database.js';
import { openSharedRun, type SharedRun, type StuckWorker } from '../../support/shared-run.js';

type Settlement = RemoteSettlement['settlement'];

const away = 'postgres://millrace@127.0.0.1:1/millrace';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

let run: SharedRun;
let lost: StuckWorker;

/** A run of two rows, one of which is held: its worker died between the POST and the id. */
beforeEach(async () => {
  run = await openSharedRun(database);
  run.folder.manifest([0, 1].map((n) => ({ id: `r${n}`, endpoint: 'echo', input: { n } })));
  lost = await run.workUntil('answered');
  const first = run.collect({ assumePriceUsd: 0.01, concurrency: 1 });
  await lost.isStuck;
  await run.work();
  await lost.passAway();
  const { exitCode, summary } = await first;
  expect([exitCode, summary.rows.completed, summary.cost.unknown]).toEqual([6, 1, 0.01]);
});
afterEach(() => run.close());

const held = () => run.folder.lines('failures.jsonl').map(({ id }) => id as string)[0] ?? '';
const settle = (...way: string[]) => run.call('settle', 'out', held(), ...way, '--db', run.url);
/** Of the held purchase. */
const jobOfHeld = () => {
  const known = run.folder.lines('results.jsonl').map(({ jobId }) => jobId);
  return run.emulator.bill().find(({ id }) => !known.includes(id))?.id ?? '';
};
const again = () => run.collect({ assumePriceUsd: 0.01 });

async function money() {
  const found = await databaseOfRun(run.folder.out, run.url);
  const status = found && (await remoteStatus(found, {}));
  if (status === undefined || 'problem' in status) throw new Error(JSON.stringify(status));
  const { reserved, spent, unknown } = status.state;
  return { reserved, spent, unknown };
}

async function inDatabaseAlone(settlement: Settlement): Promise<void> {
  const found = await databaseOfRun(run.folder.out, run.url);
  if (found === undefined) throw new Error('the run has no database');
  await settleRemote({ out: run.folder.out, id: held(), settlement, ending: undefined }, found, {});
}

/** Each purchase once, and the same in the database, in the folder and at a later start. */
async function expectBooks(purchases: readonly string[], usd: number): Promise<void> {
  const lines = run.folder.costs();
  expect(lines.map(({ attempt, source }) => `${attempt} ${source}`).sort()).toEqual(purchases);
  expect(lines.reduce((sum, { cost }) => sum + Number(cost), 0)).toBeCloseTo(usd, 6);
  expect(await money()).toEqual({ reserved: 0, spent: Math.round(usd * 1e6), unknown: 0 });
  const later = await again();
  expect(later.reason).toContain('Nothing to do');
  expect(later.summary.cost.unknown).toBe(0);
  expect(later.summary.cost.reported + later.summary.cost.estimated).toBeCloseTo(usd, 6);
  expect(run.folder.costs()).toEqual(lines);
}

it('is called for by each start until it is done', async () => {
  const idle = await again();
  expect(idle.exitCode).toBe(6);
  expect(idle.reason).toContain(`millrace settle ${run.folder.out} ${held()}`);
});

describe('settle of a row that a dead worker left', () => {
  it('--job: workers poll it, and it ends as it really did', async () => {
    const id = held();
    expect(await settle('--job', jobOfHeld(), '--yes')).toMatchObject({ code: 0 });
    expect(await money()).toMatchObject({ unknown: 0 });
    // What is on its way is not bought beside the database.
    const beside = await run.call('run', 'manifest.jsonl', '--out', 'out', '--dry-run');
    expect(beside.code).toBe(2);
    const end = await again();
    expect([end.exitCode, end.summary.rows.completed]).toEqual([0, 2]);
    expect(run.emulator.bill()).toHaveLength(2);
    expect(run.folder.lines('results.jsonl').map((line) => line['id'])).toContain(id);
    expect(run.folder.text('failures.jsonl')).toBe('');
    await expectBooks(['1 estimated', '1 estimated'], 0.02);
  });

  it('--paid: its cost is spent, its result is given up; while the database is away nothing is settled', async () => {
    const before = run.folder.everything();
    for (const way of [['--job', 'x', '--yes'], ['--paid', '1'], ['--not-sent']]) {
      const { code, stdout, stderr } = await run.call('settle', 'out', held(), ...way, '--db', away);
      expect([code, stdout]).toEqual([69, '']);
      expect(stderr).toMatch(/(^|\n)error: The database .* cannot be reached: .*Nothing is settled/);
    }
    const changed = [...run.folder.everything()].filter(([path, bytes]) => !before.get(path)?.equals(bytes));
    expect(changed.map(([path]) => path)).toEqual([]);
    expect(await money()).toMatchObject({ unknown: 10_000 });
    const id = held();
    expect(await settle('--paid', '0.05')).toMatchObject({ code: 0, stderr: '' });
    expect(await money()).toEqual({ reserved: 0, spent: 60_000, unknown: 0 });
    expect(await settle('--paid', '0.05')).toMatchObject({ code: 0 });
    expect(await settle('--paid', '0.06')).toMatchObject({ code: 2 });
    await expectBooks(['1 estimated', '1 reported'], 0.06);
    expect(run.folder.lines('failures.jsonl')).toMatchObject([{ id, error: { code: 'expired' } }]);
    expect(run.emulator.bill()).toHaveLength(2);
  });

  it('--not-sent: what was held is given back, and the row is sent', async () => {
    const id = held();
    // As by a settle that died before it reached the journal.
    await inDatabaseAlone({ notSent: true });
    expect(await settle('--not-sent')).toMatchObject({ code: 0, stderr: '' });
    expect(await run.call('settle', 'out', id, '--not-sent', '--db', run.url)).toMatchObject({ code: 0 });
    expect(await money()).toEqual({ reserved: 0, spent: 10_000, unknown: 0 });
    expect((await again()).exitCode).toBe(0);
    await expectBooks(['1 estimated', '2 estimated'], 0.02);
  });
});

describe('a settle that died between the database and the journal', () => {
  it.each<[string, () => Settlement, string[]]>([
    ['--job', () => ({ jobId: jobOfHeld() }), ['1 estimated', '1 estimated']],
    ['--not-sent', () => ({ notSent: true }), ['1 estimated', '2 estimated']],
  ])('%s is gone on with by the next start', async (way, settlement, purchases) => {
    await inDatabaseAlone(settlement());
    if (way !== '--not-sent')
      expect(await settle('--not-sent')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is not held in the database'),
      });
    const end = await again();
    expect([end.exitCode, end.summary.rows.completed]).toEqual([0, 2]);
    await expectBooks(purchases, 0.02);
  });
});

describe('an id that came late', () => {
  it('is polled under --retry unknown: nothing is bought again, and its purchase is named once', async () => {
    lost.goOn();
    await lost.stop();
    const end = await run.collect({ assumePriceUsd: 0.01, retry: ['unknown'] });
    expect([end.exitCode, end.summary.rows.completed]).toEqual([0, 2]);
    expect(run.emulator.bill()).toHaveLength(2);
    await expectBooks(['1 estimated', '1 estimated'], 0.02);
  });
});
