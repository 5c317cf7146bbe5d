import { describe, expect, it } from 'vitest';
import { recallRun } from '../../../../runners/distributed/table/recall-run.js';
import { beginStart, makeRun } from '../../../../runners/distributed/table/runs.js';
import { readStored } from '../../../../runners/distributed/callbacks/callbacks-table.js';
import { feedRows, type FleetWorker } from '../../../support/fleet.js';
import { rowsOf, termsWith } from '../../../support/run-database.js';
import { stuckAt } from '../../../support/stuck-transport.js';
import { anHourPasses } from '../../../support/time-passes.js';
import { until } from '../../../support/until.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

function nameOf({ events }: FleetWorker): string {
  return events.flatMap((event) => (event.type === 'started' ? [event.worker] : []))[0] ?? '';
}

describe('a worker that is killed', () => {
  it.each([
    ['before the POST', 'intended', 'unknown', 0],
    ['between the POST and the id', 'answered', 'unknown', 1],
    ['behind the id', 'accepted', 'completed', 1],
    ['between a poll and what it said', 'polled', 'completed', 1],
  ] as const)(
    '%s leaves a row that ends once, and is executed at most once',
    async (_, step, code, executed) => {
      const fleet = await fleets.open(rowsOf(1));
      const { transport, isStuck } = stuckAt(step);
      const killed = await fleet.start({ transport });
      await isStuck;
      await killed.kill();
      expect(await fleet.state()).toMatchObject({ inFlight: 1, reserved: 100_000 });
      await anHourPasses(fleets.database, [nameOf(killed)]);
      await fleet.start();
      const rows = await fleet.ended();
      expect(rows.map((row) => row.code)).toStrictEqual([code]);
      expect(rows[0]?.records.filter(({ k }) => k === 'outcome')).toHaveLength(1);
      expect(fleet.emulator.bill()).toHaveLength(executed);
      const { reserved, spent, unknown } = await fleet.state();
      expect({ reserved, spent, unknown }).toStrictEqual({
        reserved: 0,
        spent: code === 'unknown' ? 0 : 100_000,
        unknown: code === 'unknown' ? 100_000 : 0,
      });
    },
  );

  it('leaves only what was on the wire unknown, however many rows it had', async () => {
    const fleet = await fleets.open(rowsOf(8), { terms: { rate: 1 } });
    const { transport, isStuck } = stuckAt('answered');
    const killed = await fleet.start({ transport });
    await isStuck;
    await killed.kill();
    await anHourPasses(fleets.database, [nameOf(killed)]);
    await fleets.database.pool.query('update millrace.gates set rate = 1000 where run = $1', [fleet.run]);
    await fleet.start();
    const rows = await fleet.ended();
    expect(rows.filter(({ code }) => code === 'unknown').length).toBeLessThanOrEqual(2);
    expect(rows).toHaveLength(8);
  });
});

describe('a worker that was taken for dead and comes back', () => {
  it('changes nothing, but its id is noted', async () => {
    const fleet = await fleets.open(rowsOf(1));
    const { transport, isStuck, goOn } = stuckAt('answered');
    const lost = await fleet.start({ transport });
    await isStuck;
    await anHourPasses(fleets.database, [nameOf(lost)]);
    goOn();
    await until(async () => (await readStored(fleets.database.pool, fleet.run, ['r1'])).length > 0);
    const [late, ...others] = await readStored(fleets.database.pool, fleet.run, ['r1']);
    expect(others).toStrictEqual([]);
    expect(late).toMatchObject({ row: 'r1', attempt: 1, jobId: expect.anything() });
    expect(fleet.emulator.bill()).toHaveLength(1);
    expect((await fleet.rows()).map(({ code }) => code)).toStrictEqual(['unknown']);
    expect(await fleet.state()).toMatchObject({ spent: 0, unknown: 100_000, reserved: 0, inFlight: 0 });
    await until(() => lost.events.some(({ type }) => type === 'lost'));
  });

  it('does not write over its successor, and goes on with other rows', async () => {
    const fleet = await fleets.open(rowsOf(1));
    const { transport, isStuck, goOn } = stuckAt('polled');
    const lost = await fleet.start({ transport });
    await isStuck;
    await anHourPasses(fleets.database, [nameOf(lost)]);
    const successor = await fleet.start();
    const before = await fleet.ended();
    expect(before.map(({ code }) => code)).toStrictEqual(['completed']);
    goOn();
    await until(() => lost.events.some(({ type }) => type === 'lost'));
    await successor.stop();
    expect(await fleet.rows()).toStrictEqual(before);
    await fleet.feed(rowsOf(2).slice(1));
    expect((await fleet.ended()).map(({ code }) => code)).toStrictEqual(['completed', 'completed']);
    expect(await fleet.state()).toMatchObject({ spent: 200_000, unknown: 0, reserved: 0 });
  });

  it('goes on under one name at all of its runs, and sends heartbeats for each seat', async () => {
    const { database } = fleets;
    // Long enough for the worker to be taken for dead meanwhile, also on a loaded machine.
    const rows = rowsOf(2, { sleepMs: 10_000 });
    const fleet = await fleets.open(rows);
    const { baseUrl, lbBaseUrl } = fleet.emulator;
    const other = await makeRun(database, `beside ${fleet.run}`);
    const start = { run: other, start: await recallRun(database, other) };
    const terms = termsWith({ identity: { baseUrl, lbBaseUrl, local: false } });
    await beginStart(database, start, terms, { spent: 0, unknown: 0, collected: 0 });
    await feedRows(database, other, rows);
    const worker = await fleet.start();
    await until(() => fleet.emulator.bill().length === 4);
    await anHourPasses(database, [nameOf(worker)]);
    await until(() => worker.events.filter(({ type }) => type === 'lost').length === 2);
    const seats = async () =>
      (await database.pool.query<{ worker: string }>('select worker from millrace.seats')).rows;
    await until(async () => (await seats()).length === 2);
    const names = new Set((await seats()).map((seat) => seat.worker));
    expect(names.size).toBe(1);
    await fleet.ended();
    expect(fleet.emulator.bill()).toHaveLength(4);
  });
});
