import { beforeAll, describe, expect, it } from 'vitest';
import { calledFleet, lossyFleet, randomFleet, severalFleet, switchedFleet } from './random-fleet.js';
import { simulateFleet } from './simulate-fleet.js';

const count = 100;
/** Those of several runs take as long as two others: as many of one run are played less. */
const countOfSeveral = 25;
/** Of a service that calls back the project's checks play further ones (`.ci/run`). */
const countOfOthers = 50;
/** Other seeds than the loop on the command line begins with; the project's checks go on with further ones (`.ci/run`). */
const firstSeed = 1_000_000;

describe('runs over a database, in virtual time', () => {
  // Loads what a run loads late: meanwhile virtual time would pass, and whoever begins first would be suspended before it has rows.
  beforeAll(async () => {
    await simulateFleet({ seed: 1, rows: 2, beside: 0, collectors: [{}], workers: [{}] });
  });

  it(`keep every promise, ${count - 2 * countOfSeveral} times (npm run test:simulate:fleet -- 1 SEED plays one again)`, async () => {
    const broken: Record<string, string[]> = {};
    let lost = 0;
    // The first schedules have no worker that is lost.
    for (let seed = firstSeed + 2 * countOfSeveral; seed < firstSeed + count; seed++) {
      const simulated = await simulateFleet(randomFleet(seed));
      lost += simulated.lost;
      if (simulated.broken.length > 0) broken[`seed ${seed}`] = simulated.broken;
    }
    expect(broken).toEqual({});
    expect(lost).toBeGreaterThan(0);
  }, 3_600_000);

  it(`keep them of several runs that share a database, and the cap of a day, ${countOfSeveral} times (npm run test:simulate:fleet -- 1 SEED several)`, async () => {
    const broken: Record<string, string[]> = {};
    for (let seed = firstSeed + 3 * count; seed < firstSeed + 3 * count + countOfSeveral; seed++) {
      const simulated = await simulateFleet(severalFleet(seed));
      if (simulated.broken.length > 0) broken[`seed ${seed}`] = simulated.broken;
    }
    expect(broken).toEqual({});
  }, 3_600_000);

  /** Among them workers that lose their seat, and their connection, while a callback is taken in. */
  it(`keep them of a service that calls back, ${countOfOthers} times (npm run test:simulate:fleet -- 1 SEED called)`, async () => {
    const broken: Record<string, string[]> = {};
    for (let seed = firstSeed + count; seed < firstSeed + count + countOfOthers; seed++) {
      const simulated = await simulateFleet(calledFleet(seed));
      if (simulated.broken.length > 0) broken[`seed ${seed}`] = simulated.broken;
    }
    expect(broken).toEqual({});
  }, 3_600_000);

  it(`keep them where standbys take the place of the database, ${countOfOthers} times (npm run test:simulate:fleet -- 1 SEED switched)`, async () => {
    const broken: Record<string, string[]> = {};
    let stopped = 0;
    for (let seed = firstSeed + 2 * count; seed < firstSeed + 2 * count + countOfOthers; seed++) {
      const simulated = await simulateFleet(switchedFleet(seed));
      stopped += simulated.exitCodes.filter((code) => code === 74).length;
      if (simulated.broken.length > 0) broken[`seed ${seed}`] = simulated.broken;
    }
    expect(broken).toEqual({});
    expect(stopped).toBeGreaterThan(0);
  }, 3_600_000);

  /**
   * A seat that its worker had given up; rows that the folder knew as failed; a completed one that it knew beyond its note; a failed
   * one that was booked twice; one in doubt at a later attempt.
   */
  it.each([5_026, 20_203, 30_119, 40_172, 7_100_279])(
    'keep them where the standby lacks the last commits, with --repair: seed %i, lossy',
    async (seed) => {
      expect((await simulateFleet(lossyFleet(seed))).broken).toEqual([]);
    },
  );

  it('notice a standby that lacks the whole first start of a run: seed 400038, several', async () => {
    expect((await simulateFleet(severalFleet(400_038))).broken).toEqual([]);
  });

  it('leave no row in doubt where a standby takes the place of the database and nothing else happens', async () => {
    for (let afterMs = 200; afterMs < 6_000; afterMs += 300) {
      const journal: string[] = [];
      const { broken, exitCodes } = await simulateFleet({
        seed: 77,
        rows: 12,
        beside: 2,
        workers: [],
        collectors: [{}, {}],
        switchovers: [{ afterMs, forMs: 100 }],
        options: { concurrency: 6 },
        watch: (line) => journal.push(line),
      });
      expect([broken, exitCodes[0]]).toEqual([[], 74]);
      expect(journal.filter((line) => line.includes('"code":"unknown"'))).toEqual([]);
    }
  });

  /**
   * A rate whose next turn lay hours ahead when the database's clock was set back; a second purchase that was reserved before the
   * first was booked; rows that workers took between the end of a stopped collector's waiting and its stop; rows fed twice.
   */
  it.each([345, 447, 1027, 1011])('keep them where they once did not: seed %i', async (seed) => {
    expect((await simulateFleet(randomFleet(seed))).broken).toEqual([]);
  });

  /**
   * The job of a callback was being claimed when its run stopped: the row ended as unknown, and the callback was deleted. A job
   * that a callback named was reserved, and the request without an answer that had created it was held beside it.
   */
  it.each([1_000_333, 1_000_346, 9_950_602, 1_001_226])(
    'keep what a callback has said: seed %i, called',
    async (seed) => {
      expect((await simulateFleet(calledFleet(seed))).broken).toEqual([]);
    },
  );

  it('are the same whenever they are played again', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const [first, second] = [
        await simulateFleet(randomFleet(seed)),
        await simulateFleet(randomFleet(seed)),
      ];
      expect(second, `seed ${seed}`).toEqual(first);
    }
  });

  it.each([
    ['stands still', 'freezes', 3_000],
    ['stands still', 'freezes', 7_000],
    ['is cut off', 'cuts', 5_000],
  ] as const)(
    'let a worker write nothing that %s until it is declared dead (%s at %i ms)',
    async (_, fate, afterMs) => {
      const { broken, lost } = await simulateFleet({
        seed: 7 + afterMs,
        rows: 24,
        beside: 2,
        collectors: [{}],
        options: { concurrency: 2, rate: 1 },
        workers: [{ [fate]: [{ afterMs, forMs: 70_000 }] }, { beginsMs: 500 }],
      });
      expect([broken, lost]).toEqual([[], 1]);
    },
  );

  it('let a start change nothing that a later one has taken over, also where it is told to stop', async () => {
    const { broken, exitCodes } = await simulateFleet({
      seed: 5,
      rows: 24,
      beside: 2,
      collectors: [
        { overtaken: { afterMs: 3_000, forMs: 60_000 }, stops: [{ afterMs: 9_000, order: 'graceful' }] },
        {},
      ],
      options: { concurrency: 2, rate: 1 },
      workers: [],
    });
    expect(broken).toEqual([]);
    expect(exitCodes).not.toContain(130);
  });

  it('go on behind a worker that stands still for a minute and comes back', async () => {
    // It has rows by then, and the run goes on when it comes back, however long the first feeding takes.
    const freezes = [{ afterMs: 15_000, forMs: 60_000 }];
    const { broken, lost } = await simulateFleet({
      seed: 7,
      rows: 40,
      beside: 2,
      collectors: [{}],
      options: { concurrency: 2 },
      workers: [{ freezes }, { beginsMs: 15_500 }],
    });
    expect([broken, lost]).toEqual([[], 1]);
  });
});
