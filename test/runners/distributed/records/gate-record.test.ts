import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { afterTurns, turnsAt, type GateRecord } from '../../../../runners/distributed/records/gate-record.js';

const open: GateRecord = {
  ...{ now: 10_000, rate: null, nextAt: 0, pausedUntil: 0, recovering: false, probeUntil: 0 },
};

describe('turns at the gate of a run', () => {
  it('are as many as are wanted without a rate', () => {
    expect(turnsAt(open, 7, 100)).toStrictEqual({ count: 7, firstInMs: 0, everyMs: 0 });
  });

  it('are none in a pause', () => {
    expect(turnsAt({ ...open, pausedUntil: 10_001 }, 7, 100).count).toBe(0);
    expect(turnsAt({ ...open, pausedUntil: 10_000 }, 7, 100).count).toBe(7);
  });

  it('are one at a time after a pause, until an answer is good', () => {
    const after = { ...open, recovering: true };
    const probe = turnsAt(after, 7, 100);
    expect(probe.count).toBe(1);
    const probed = afterTurns(after, probe);
    expect(turnsAt(probed, 7, 100).count).toBe(0);
    expect(turnsAt({ ...probed, now: 12_001 }, 7, 100).count).toBe(1);
  });

  it('reach no further than the horizon', () => {
    const gate = { ...open, rate: 100, nextAt: 10_000 };
    const turns = turnsAt(gate, 50, 95);
    expect(turns).toStrictEqual({ count: 10, firstInMs: 0, everyMs: 10 });
    expect(turnsAt(afterTurns(gate, turns), 50, 95).count).toBe(0);
    expect(turnsAt(afterTurns(gate, turns), 50, 200)).toMatchObject({ count: 11, firstInMs: 100 });
  });

  const asking = fc.record({
    afterMs: fc.integer({ min: 0, max: 300 }),
    wanted: fc.integer({ min: 1, max: 60 }),
    horizonMs: fc.constantFrom(150, 400),
  });
  test.prop([fc.constantFrom(5, 50, 100, 333), fc.array(asking, { maxLength: 60 })])(
    'never stand closer than the rate allows, whoever asks when',
    (rate, askings) => {
      let gate: GateRecord = { ...open, rate };
      const times: number[] = [];
      for (const { afterMs, wanted, horizonMs } of askings) {
        gate = { ...gate, now: gate.now + afterMs };
        const turns = turnsAt(gate, wanted, horizonMs);
        for (let place = 0; place < turns.count; place++)
          times.push(gate.now + turns.firstInMs + place * turns.everyMs);
        gate = afterTurns(gate, turns);
      }
      // A window of a second holds the rate, and what a late worker may make up for.
      for (const from of times) {
        const within = times.filter((time) => time >= from && time < from + 1_000).length;
        expect(within).toBeLessThanOrEqual(rate + Math.ceil((200 * rate) / 1_000) + 1);
      }
    },
  );
});
