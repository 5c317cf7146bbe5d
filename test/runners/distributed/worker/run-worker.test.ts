import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../../support/run-database.js';
import { until } from '../../../support/until.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

describe('workers', () => {
  it('send each row once and end it once', async () => {
    const fleet = await fleets.open(rowsOf(24, { sleepMs: 20 }));
    await fleet.start();
    await fleet.start();
    const rows = await fleet.ended();
    expect(rows.map(({ id }) => id).sort()).toStrictEqual(
      rowsOf(24)
        .map(({ row }) => row.id)
        .sort(),
    );
    expect(fleet.emulator.bill()).toHaveLength(24);
    const [row] = rows;
    expect(row?.records.map(({ k }) => k)).toStrictEqual(['intent', 'accepted', 'reply', 'outcome']);
    expect(row?.outcome).toMatchObject({ status: 'completed', cost: 100_000, source: 'estimated' });
    expect(row?.reply?.output).toMatchObject({ echo: { sleepMs: 20 } });
    expect(await fleet.state()).toMatchObject({
      seq: 96,
      open: 0,
      reserved: 0,
      spent: 2_400_000,
      unknown: 0,
    });
  });

  it('give accepted rows back at once when they are stopped', async () => {
    const fleet = await fleets.open(rowsOf(3, { sleepMs: 120_000 }));
    const worker = await fleet.start();
    await until(async () => (await fleet.rows()).filter(({ code }) => code === 'accepted').length === 3);
    await worker.stop();
    expect(await fleet.state()).toMatchObject({ open: 3, inFlight: 0, reserved: 300_000 });
  });
});
