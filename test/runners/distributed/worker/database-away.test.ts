import { describe, expect, it } from 'vitest';
import { concatMap, from, map } from 'rxjs';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
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
    const http = createGotTransport();
    const cut = async (): Promise<void> => {
      if (cuts++ % 4 === 0) await cutAll();
    };
    const transport: Transport = (request) =>
      http(request).pipe(concatMap((reply) => from(cut()).pipe(map(() => reply))));
    const fleet = await fleets.open(rowsOf(12));
    const worker = await fleet.start({ transport });
    const rows = await fleet.ended();
    expect(rows.map(({ code }) => code)).toStrictEqual(rows.map(() => 'completed'));
    expect(rows).toHaveLength(12);
    expect(fleet.emulator.bill()).toHaveLength(12);
    expect(cuts).toBeGreaterThan(5);
    expect(worker.events.filter(({ type }) => type === 'fault')).toStrictEqual([]);
    expect(await fleet.state()).toMatchObject({ spent: 1_200_000, reserved: 0, unknown: 0 });
  }, 180_000);
});
