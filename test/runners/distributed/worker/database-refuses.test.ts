import { afterEach, describe, expect, it } from 'vitest';
import { rowsOf } from '../../../support/run-database.js';
import { until } from '../../../support/until.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** The database fails with this code at each statement of this kind until the returned function is called. */
async function fail(at: string, code: string): Promise<() => Promise<void>> {
  const { pool } = fleets.database;
  await pool.query(`create function public.fail() returns trigger language plpgsql as
    $$ begin raise exception 'it fails' using errcode = '${code}'; end $$`);
  await pool.query(`create trigger fails before ${at} for each row execute function public.fail()`);
  return mend;
}

async function mend(): Promise<void> {
  await fleets.database.pool.query('drop function if exists public.fail cascade');
}

afterEach(mend);

describe('a worker whose database can write nothing', () => {
  it.each([
    ['whose disk is full', '53100'],
    ['that cannot use its files', '58030'],
    ['where somebody cancels its statements', '57014'],
  ])('keeps what it has in hand until it can: one %s', async (_, code) => {
    const fleet = await fleets.open(rowsOf(12), { terms: { concurrency: 4 } });
    const worker = await fleet.start();
    await until(() => fleet.emulator.bill().length >= 4);
    const mended = await fail('insert on millrace.records', code);
    await until(() => worker.events.some(({ type }) => type === 'away'));
    await mended();
    expect((await fleet.ended()).map(({ code: end }) => end)).toEqual(Array(12).fill('completed'));
    expect(fleet.emulator.bill()).toHaveLength(12);
    expect(worker.events.filter(({ type }) => type === 'fault')).toEqual([]);
    expect(await fleet.state()).toMatchObject({ spent: 1_200_000, reserved: 0, unknown: 0 });
  });
});

describe('a worker that could not give its seat up', () => {
  it('goes on as another one: what it sends is written down, and no row is sent twice', async () => {
    const fleet = await fleets.open(rowsOf(6), { terms: { concurrency: 4 } });
    const mended = await fail('delete on millrace.seats', 'P0001');
    const worker = await fleet.start();
    await until(() => worker.events.some(({ type }) => type === 'fault'));
    await mended();
    await fleet.feed(rowsOf(12).slice(6));
    const rows = await fleet.ended();
    expect(rows.map(({ code, intents }) => [code, intents.length])).toEqual(Array(12).fill(['completed', 1]));
    expect(fleet.emulator.bill()).toHaveLength(12);
    expect(await fleet.state()).toMatchObject({ spent: 1_200_000, reserved: 0, unknown: 0 });
  });
});
