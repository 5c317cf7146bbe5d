import { describe, expect, it } from 'vitest';
import { randomSimulation } from './random-simulation.js';
import { simulateRun } from './simulate-run.js';

const count = 800;
/** Another part of the seeds than the long loop begins with; the project's checks go on with the next 2,000 (`.ci/run`). */
const firstSeed = 1_000_000;

describe('random schedules', () => {
  it(`keep every promise, ${count} times (npm run test:simulate 1 SEED plays one again)`, async () => {
    const broken: Record<string, string[]> = {};
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const simulated = await simulateRun(randomSimulation(seed));
      if (simulated.broken.length > 0) broken[`seed ${seed}`] = simulated.broken;
    }
    expect(broken).toEqual({});
  }, 3_600_000);

  /** An outcome of a GET cut off by a stop; a doubt given back with the row that was left. */
  it.each([6_824, 14_564])('keep every promise where they once did not: seed %i', async (seed) => {
    expect((await simulateRun(randomSimulation(seed))).broken).toEqual([]);
  });

  it('are the same whenever they are played again', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const [first, second] = [
        await simulateRun(randomSimulation(seed)),
        await simulateRun(randomSimulation(seed)),
      ];
      expect(second, `seed ${seed}`).toEqual(first);
    }
  });
});
