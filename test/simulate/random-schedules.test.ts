import { describe, expect, it } from 'vitest';
import { calledSimulation, randomSimulation, strangeSimulation } from './random-simulation.js';
import { type Simulation, simulateRun } from './simulate-run.js';

const count = 50;
/** Another part of the seeds than the long loop begins with; the project's checks go on with further ones (`.ci/run`). */
const firstSeed = 1_000_000;

async function brokenBy(simulations: readonly Simulation[]): Promise<Record<string, string[]>> {
  const broken: Record<string, string[]> = {};
  for (const simulation of simulations) {
    const simulated = await simulateRun(simulation);
    if (simulated.broken.length > 0) broken[`seed ${simulation.seed}`] = simulated.broken;
  }
  return broken;
}

const seeds = Array.from({ length: count }, (_, index) => firstSeed + index);

describe('random schedules', () => {
  it(`keep every promise, ${count} times (npm run test:simulate -- 1 SEED none plays one again)`, async () => {
    expect(await brokenBy(seeds.map(randomSimulation))).toEqual({});
  }, 3_600_000);

  it(`keep them with strange replies, ${count} times (npm run test:simulate -- 1 SEED)`, async () => {
    expect(await brokenBy(seeds.map((seed) => strangeSimulation(seed + count)))).toEqual({});
  }, 3_600_000);

  it(`keep them of a service that calls back, ${count} times (npm run test:simulate -- 1 SEED called)`, async () => {
    expect(await brokenBy(seeds.map((seed) => calledSimulation(seed + 2 * count)))).toEqual({});
  }, 3_600_000);

  /** An outcome of a GET cut off by a stop; a doubt given back with the row that was left. */
  it.each([6_824, 14_564])('keep every promise where they once did not: seed %i', async (seed) => {
    expect((await simulateRun(randomSimulation(seed))).broken).toEqual([]);
  });

  /** A purchase in flight counted twice by a repair; money of rows held by one added up under another resolution. */
  it.each([8_000_077, 8_000_020])('keep them after a repair: seed %i', async (seed) => {
    const kinds = { replies: [], meddlings: ['journal-copied'] } as const;
    expect((await simulateRun(strangeSimulation(seed, kinds))).broken).toEqual([]);
  });

  /** A row that was held, opened again, and held for a purchase that a repair had lost: two lines in costs.csv had one number. */
  it('keep them where a row is held twice: seed 5006901', async () => {
    expect((await simulateRun(strangeSimulation(5_006_901))).broken).toEqual([]);
  });

  it('are the same whenever they are played again', async () => {
    // Of the last two, each went another way in each fourth play while a start asked the real file system for a path.
    for (const seed of [...Array.from({ length: 20 }, (_, index) => index + 1), 70, 117]) {
      const [first, second] = [
        await simulateRun(strangeSimulation(seed)),
        await simulateRun(strangeSimulation(seed)),
      ];
      expect(second, `seed ${seed}`).toEqual(first);
    }
  });
});
