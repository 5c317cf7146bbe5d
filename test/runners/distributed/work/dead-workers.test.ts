import { firstValueFrom, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { EndedRow } from '../../../../runners/distributed/store/run-store.js';
import type { WorkStep } from '../../../../runners/distributed/work/run-worker.js';
import type { FleetWorker } from '../../../support/fleet.js';
import { rowsOf } from '../../../support/run-database.js';
import { anHourPasses } from '../../../support/time-passes.js';
import { until } from '../../../support/until.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** A worker that stops dead at a step of its first row until `goOn` emits, and how to know that it has. */
function stuckAt(step: WorkStep) {
  const goOn = new Subject<void>();
  const seen = { stuck: false };
  const onStep = async (at: WorkStep): Promise<void> => {
    if (at !== step || seen.stuck) return;
    seen.stuck = true;
    await firstValueFrom(goOn, { defaultValue: undefined });
  };
  return { goOn, seen, onStep };
}

function nameOf({ events }: FleetWorker): string {
  return events.flatMap((event) => (event.type === 'started' ? [event.worker] : []))[0] ?? '';
}

function codeOf({ ending }: EndedRow): string {
  const { outcome } = ending;
  return outcome?.status === 'failed' ? outcome.error.code : 'completed';
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
      const { onStep, seen } = stuckAt(step);
      const killed = await fleet.start({ onStep });
      await until(() => seen.stuck);
      await killed.kill();
      const before = await fleet.state();
      expect(before).toMatchObject({ inFlight: 1, reserved: 100_000 });
      await anHourPasses(fleets.database, [nameOf(killed)]);
      await fleet.start();
      const [row, ...others] = await fleet.ended();
      expect(others).toStrictEqual([]);
      expect(row && codeOf(row)).toBe(code);
      expect(fleet.emulator.bill()).toHaveLength(executed);
      const { reserved, spent, unknown } = await fleet.state();
      expect({ reserved, spent, unknown }).toStrictEqual({
        reserved: 0,
        spent: code === 'unknown' ? 0 : 100_000,
        unknown: code === 'unknown' ? 100_000 : 0,
      });
    },
  );
});

describe('a worker that was taken for dead and comes back', () => {
  it('changes nothing, but its id is noted, and can be polled', async () => {
    const fleet = await fleets.open(rowsOf(1));
    const { onStep, seen, goOn } = stuckAt('answered');
    const lost = await fleet.start({ onStep });
    await until(() => seen.stuck);
    await anHourPasses(fleets.database, [nameOf(lost)]);
    goOn.next();
    await lost.stop();
    const { run, store } = fleet;
    const [held] = await store.find(run, ['r1']);
    expect(held).toMatchObject({ place: 'ended', ending: { outcome: { error: { code: 'unknown' } } } });
    expect(held?.lateJobId).toBeDefined();
    expect(await store.takeUp(run, ['r1'], 'poll')).toStrictEqual(['r1']);
    expect(await fleet.state()).toMatchObject({ unknown: 0, reserved: 100_000, inFlight: 1 });
    await fleet.start();
    const rows = await fleet.ended();
    expect(rows.map(codeOf)).toStrictEqual(['completed']);
    expect(fleet.emulator.bill()).toHaveLength(1);
    expect(await fleet.state()).toMatchObject({ spent: 100_000, unknown: 0, reserved: 0 });
  });

  it('does not write over its successor', async () => {
    const fleet = await fleets.open(rowsOf(1));
    const { onStep, seen, goOn } = stuckAt('answered');
    const lost = await fleet.start({ onStep });
    await until(() => seen.stuck);
    await anHourPasses(fleets.database, [nameOf(lost)]);
    const { run, store } = fleet;
    expect(await store.settle(run, 'r1', { notSent: true })).toBe('settled');
    await store.feed(run, rowsOf(1));
    await fleet.start();
    const before = await fleet.ended();
    expect(before).toMatchObject([{ attempts: 2, ending: { outcome: { status: 'completed' } } }]);
    goOn.next();
    await lost.stop();
    expect(await fleet.endings()).toStrictEqual(before);
    expect(await fleet.state()).toMatchObject({ spent: 100_000, unknown: 0, ended: 1 });
  });
});
