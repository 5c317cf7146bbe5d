import { describe, expect, it } from 'vitest';
import type { WorkStep } from '../../../../runners/distributed/work/run-worker.js';
import { rowsOf } from '../../../support/run-database.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** Cuts every connection of workers. */
async function cutAll(): Promise<void> {
  await fleets.database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'elsewhere'`,
  );
}

describe('a worker whose connections break', () => {
  it('writes what it has in hand when they are back, and sends nothing twice', async () => {
    let cuts = 0;
    const onStep = async (step: WorkStep): Promise<void> => {
      if ((step === 'answered' || step === 'polled') && cuts++ % 4 === 0) await cutAll();
    };
    const fleet = await fleets.open(rowsOf(12));
    const worker = await fleet.start({ onStep });
    const rows = await fleet.ended();
    expect(rows.map(({ ending }) => ending.outcome?.status)).toStrictEqual(rows.map(() => 'completed'));
    expect(rows).toHaveLength(12);
    expect(fleet.emulator.bill()).toHaveLength(12);
    expect(cuts).toBeGreaterThan(5);
    expect(worker.events.filter(({ type }) => type === 'fault')).toStrictEqual([]);
    expect(await fleet.state()).toMatchObject({ spent: 1_200_000, reserved: 0, unknown: 0 });
  }, 180_000);
});
