import { NEVER, Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readStored } from '../../../../runners/distributed/callbacks/callbacks-table.js';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { rowsOf } from '../../../support/run-database.js';
import { stuckAt } from '../../../support/stuck-transport.js';
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

describe('a worker that has left', () => {
  it('asks for no job any more: the request on its way is taken back', async () => {
    const fleet = await fleets.open(rowsOf(3, { sleepMs: 120_000 }));
    const { transport, open } = unanswered();
    const worker = await fleet.start({ transport });
    await until(() => open.size === 3);
    await worker.stop();
    expect(open.size).toBe(0);
  });

  it('notes the job of a request that it did not wait for', async () => {
    const fleet = await fleets.open(rowsOf(1));
    const { transport, isStuck, goOn } = stuckAt('answered');
    const stop = new Subject<void>();
    const worker = await fleet.start({ transport, stop });
    await isStuck;
    stop.next();
    stop.next();
    expect(await worker.ended).toBe(0);
    expect((await fleet.rows()).map(({ code }) => code)).toStrictEqual(['unknown']);
    goOn();
    await until(async () => (await readStored(fleets.database.pool, fleet.run, ['r1'])).length > 0);
    expect(fleet.emulator.bill()).toHaveLength(1);
  });
});

it('asks for more where the price has risen since a row was taken: it is not sent beyond the cap', async () => {
  const rows = rowsOf(3).map((task) => ({
    ...task,
    row: { ...task.row, endpoint: 'dear', mode: 'sync' as const },
  }));
  const prices = { name: 'test', edit: {}, endpoints: [['dear', { perJob: 100_000 }]], route: null } as const;
  // The second row is taken with the end of the first, which tells the price.
  const terms = { prices, endpoints: ['dear'], concurrency: 1, cap: 350_000 };
  const fleet = await fleets.open(rows, {
    terms,
    emulator: { functions: { queue: { dear: () => ({ cost: 0.2 }) } } },
  });
  await fleet.start();
  await fleet.ended();
  expect(await fleet.state()).toMatchObject({ spent: 200_000, reserved: 0, open: 2, stop: { exitCode: 3 } });
  expect(fleet.emulator.bill()).toHaveLength(1);
});

/** A service that answers no status call, and the calls that wait for it. */
function unanswered() {
  const got = createGotTransport();
  const open = new Set<string>();
  const transport: Transport = (request) => {
    if (request.method === 'POST') return got(request);
    return new Observable((subscriber) => {
      open.add(request.url);
      subscriber.add(() => open.delete(request.url));
      return NEVER.subscribe(subscriber);
    });
  };
  return { transport, open };
}
