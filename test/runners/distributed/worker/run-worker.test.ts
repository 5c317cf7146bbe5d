import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../../support/run-database.js';
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
});
