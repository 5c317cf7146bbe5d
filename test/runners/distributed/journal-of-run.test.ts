import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, type TestDatabase } from '../../support/database.js';
import { openSharedRun, type SharedRun, type StuckWorker } from '../../support/shared-run.js';

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

/** As of a collector that died: the database may have records that the folder does not have. */
function leaveOpen(): void {
  const path = join(run.folder.out, 'distributed.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"isOpen":false', '"isOpen":true'));
}

/** Each purchase once, and the same at a later start. */
async function expectBooks(purchases: readonly string[], usd: number): Promise<void> {
  const lines = run.folder.costs();
  expect(lines.map(({ attempt, source }) => `${attempt} ${source}`).sort()).toEqual(purchases);
  expect(lines.reduce((sum, { cost }) => sum + Number(cost), 0)).toBeCloseTo(usd, 6);
  const later = await again();
  expect(later.reason).toContain('Nothing to do');
  expect(later.summary.cost.unknown).toBe(0);
  expect(later.summary.cost.reported + later.summary.cost.estimated).toBeCloseTo(usd, 6);
  expect(run.folder.costs()).toEqual(lines);
}

it('is called for by each start until it is done', async () => {
  const idle = await again();
  expect(idle.exitCode).toBe(6);
  expect(idle.reason).toContain(`millrace settle ${run.folder.out}`);
});

describe('settle of a row that a dead worker left', () => {
  it('--job: workers poll it, and it ends as it really did', async () => {
    const id = held();
    expect(await settle('--job', jobOfHeld(), '--yes')).toMatchObject({ code: 0 });
    const end = await again();
    expect([end.exitCode, end.summary.rows.completed]).toEqual([0, 2]);
    expect(run.emulator.bill()).toHaveLength(2);
    expect(run.folder.lines('results.jsonl').map((line) => line['id'])).toContain(id);
    expect(run.folder.text('failures.jsonl')).toBe('');
    await expectBooks(['1 estimated', '1 estimated'], 0.02);
  });

  it('--paid: its cost is spent, its result is given up; while the database is away nothing is settled', async () => {
    leaveOpen();
    const before = run.folder.everything();
    for (const way of [['--job', 'x', '--yes'], ['--paid', '0.05'], ['--not-sent']]) {
      const { code, stdout, stderr } = await run.call('settle', 'out', held(), ...way, '--db', away);
      expect([code, stdout]).toEqual([69, '']);
      expect(stderr).toMatch(/(^|\n)error: The database .* cannot be reached: .*Nothing is settled/);
    }
    const changed = [...run.folder.everything()].filter(([path, bytes]) => !before.get(path)?.equals(bytes));
    expect(changed.map(([path]) => path)).toEqual([]);
    const id = held();
    expect(await settle('--paid', '0.05')).toMatchObject({ code: 0, stderr: '' });
    expect(await settle('--paid', '0.05')).toMatchObject({ code: 0 });
    expect(await settle('--paid', '0.06')).toMatchObject({ code: 2 });
    await expectBooks(['1 estimated', '1 reported'], 0.06);
    expect(run.folder.lines('failures.jsonl')).toMatchObject([{ id, error: { code: 'expired' } }]);
    expect(run.emulator.bill()).toHaveLength(2);
  });

  it('--not-sent: what was held is given back, and the row is sent', async () => {
    const id = held();
    expect(await settle('--not-sent')).toMatchObject({ code: 0, stderr: '' });
    expect(await run.call('settle', 'out', id, '--not-sent', '--db', run.url)).toMatchObject({ code: 0 });
    expect((await again()).exitCode).toBe(0);
    await expectBooks(['1 estimated', '2 estimated'], 0.02);
  });
});

it('--undo takes a settlement back, and the row is held again', async () => {
  expect(await settle('--not-sent')).toMatchObject({ code: 0 });
  const id = run.folder.lines('journal.jsonl').findLast(({ k }) => k === 'reopen')?.['id'] as string;
  expect(await run.call('settle', 'out', id, '--undo', '--db', run.url)).toMatchObject({ code: 0 });
  expect((await again()).exitCode).toBe(6);
});

it('is gone on with by a start without a database, and back', async () => {
  expect(await settle('--not-sent')).toMatchObject({ code: 0 });
  const { apiKey: key, baseUrl, lbBaseUrl } = run.emulator;
  const here = await run.folder.run({ key, baseUrl, lbBaseUrl }, { assumePriceUsd: 0.01 });
  expect([here.exitCode, here.summary.rows.completed]).toEqual([0, 2]);
  await expectBooks(['1 estimated', '2 estimated'], 0.02);
});

describe('an id that came late', () => {
  it('is polled by the next start: nothing is bought again, and its purchase is named once', async () => {
    lost.goOn();
    await lost.stop();
    const end = await run.collect({ assumePriceUsd: 0.01 });
    expect([end.exitCode, end.summary.rows.completed]).toEqual([0, 2]);
    expect(run.emulator.bill()).toHaveLength(2);
    await expectBooks(['1 estimated', '1 estimated'], 0.02);
  });
});
