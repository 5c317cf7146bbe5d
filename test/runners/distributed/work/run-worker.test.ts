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
        .map(({ facts }) => facts.id)
        .sort(),
    );
    expect(rows.map(({ seq }) => seq)).toStrictEqual(rows.map((_, context) => context + 1));
    expect(fleet.emulator.bill()).toHaveLength(24);
    const { reply, outcome } = rows[0]?.ending ?? {};
    expect(outcome).toMatchObject({ status: 'completed', cost: 100_000, source: 'estimated' });
    expect(reply?.output).toMatchObject({ echo: { sleepMs: 20 } });
    expect(await fleet.state()).toMatchObject({ ended: 24, reserved: 0, spent: 2_400_000, unknown: 0 });
  });
});
