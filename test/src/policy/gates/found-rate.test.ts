import { describe, expect, it } from 'vitest';
import { adaptiveGate } from '../../../../src/policy/gates/built-in-gates.js';
import {
  playGate,
  takesAll,
  takesPerSlidingSecond,
  takesPerWindow,
  takesRate,
  withNoise,
  type GatePlay,
  type GatePlayed,
} from '../../../support/play-gate.js';

const found = (play: Omit<GatePlay, 'gate'>) => playGate({ gate: adaptiveGate, ...play });

/** Answers a second between two times in ms, and the share of all that are refusals. */
function between({ answeredAt, refusedAt }: GatePlayed, from: number, to: number) {
  const within = (times: readonly number[]) => times.filter((at) => at >= from && at < to).length;
  const answered = within(answeredAt);
  const refused = within(refusedAt);
  return { perSecond: (answered * 1_000) / (to - from), refused: refused / (answered + refused) };
}

/** Until 95 % of the jobs have ended: how long the last ones wait is chance. */
function mostMs({ ends }: GatePlayed): number {
  const all = [...ends.values()].flat().sort((one, other) => one - other);
  return all[Math.floor(all.length * 0.95)]!;
}

describe('the rate that a gate finds out', () => {
  it.each([8, 40])('is that of a bucket of 50 a second, with %s jobs in flight', (inFlight) => {
    for (const burst of [50, 10]) {
      const { answered, seconds, refusedShare } = found({
        serve: takesRate(50, burst),
        jobs: 2_000,
        inFlight,
      });
      expect(answered / seconds / 50).toBeGreaterThan(burst === 50 ? 0.95 : 0.88);
      expect(refusedShare).toBeLessThan(0.02);
    }
  });

  it('is no noise after a pause in which a bucket has filled, whatever chance says', () => {
    for (const seed of [1, 2, 3, 4]) {
      const { refusedShare } = found({ serve: takesRate(50), jobs: 2_000, inFlight: 40, seed });
      expect(refusedShare).toBeLessThan(0.02);
    }
  });

  it.each([
    ['a bucket of 50', takesRate(50)],
    ['a bucket of 20', takesRate(20)],
    ['50 in each sliding second', takesPerSlidingSecond(50)],
  ])('is never taken for noise, whatever chance says: %s a second', (_name, serve) => {
    for (let seed = 1; seed <= 4; seed++)
      for (const [inFlight, exchangeMs] of [
        [8, 5],
        [50, 5],
        [50, 50],
        [256, 50],
      ] as const) {
        const play = { serve, jobs: Infinity, untilMs: 30_000, inFlight, exchangeMs, jobMs: 0, seed };
        expect(between(found(play), 10_000, 30_000).refused).toBeLessThan(0.05);
      }
  });

  it('is that of 1,000 requests in each 10 s', () => {
    const { answered, seconds, refusedShare } = found({
      serve: takesPerWindow(1_000, 10_000),
      jobs: 4_000,
      inFlight: 40,
    });
    expect(answered / seconds / 100).toBeGreaterThan(0.85);
    expect(refusedShare).toBeLessThan(0.02);
  });

  it('spares a service that takes 20 requests at once', () => {
    const serve = () => (_now: number, open: number) => ({ status: open >= 20 ? 429 : 200 });
    const { refusedShare, perSecond } = found({ serve, jobs: 2_000, inFlight: 40, exchangeMs: 200 });
    expect(refusedShare).toBeLessThan(0.02);
    expect(perSecond).toBeGreaterThan(40);
  });

  it('follows a limit that falls from 200 a second to 20 and comes back', () => {
    const rate = (now: number) => (now >= 20_000 && now < 60_000 ? 20 : 200);
    for (const seed of [1, 2, 3]) {
      const played = found({
        serve: takesRate(rate, 20),
        jobs: Infinity,
        untilMs: 120_000,
        inFlight: 40,
        seed,
      });
      expect(between(played, 5_000, 20_000).perSecond).toBeGreaterThan(160);
      expect(between(played, 25_000, 60_000).perSecond).toBeGreaterThan(14);
      expect(between(played, 20_000, 60_000).refused).toBeLessThan(0.1);
      expect(between(played, 95_000, 120_000).perSecond).toBeGreaterThan(120);
    }
  });

  it.each([undefined, 1_000])(
    'comes back after 5 s in which all is refused, Retry-After %s',
    (retryAfterMs) => {
      const asked = retryAfterMs !== undefined && { retryAfterMs };
      const serve = () => (now: number) =>
        now >= 5_000 && now < 10_000 ? { status: 429, ...asked } : { status: 200 };
      const played = found({ serve, jobs: Infinity, untilMs: 20_000, inFlight: 40 });
      expect(played.refused).toBeLessThan(40);
      const before = between(played, 0, 5_000).perSecond;
      expect(between(played, 15_000, 20_000).perSecond).toBeGreaterThan(0.8 * before);
    },
  );

  it.each([
    [0.02, undefined],
    [0.02, 1_000],
    [0.1, undefined],
    [0.1, 1_000],
    [0.3, undefined],
    [0.3, 1_000],
  ])('is none where %s of the requests are refused at random, Retry-After %s', (share, retryAfterMs) => {
    const ratios = [1, 2, 3].map((seed) => {
      const play = { serve: withNoise(share, takesAll, retryAfterMs), jobs: 3_000, seed };
      return mostMs(playGate(play)) / mostMs(found(play));
    });
    expect(ratios.sort((one, other) => one - other)[1]).toBeGreaterThan(0.7);
  });

  it.each([
    [0.02, 0.9],
    [0.1, 0.8],
    [0.3, 0.75],
  ])('costs a batch of 300 jobs little where %s are refused at random', (share, least) => {
    const ratios = Array.from({ length: 11 }, (_, seed) => {
      const play = { serve: withNoise(share), jobs: 300, seed: seed + 1 };
      return mostMs(playGate(play)) / mostMs(found(play));
    });
    expect(ratios.sort((one, other) => one - other)[5]).toBeGreaterThan(least);
  });

  it('is near a limit of 50 a second also where 10 % are refused at random [fault 4a]', () => {
    const { answered, seconds, refusedShare } = found({
      serve: withNoise(0.1, takesRate(50)),
      jobs: 2_000,
      inFlight: 40,
    });
    expect(answered / seconds / 50).toBeGreaterThan(0.65);
    expect(refusedShare).toBeLessThan(0.25);
  });

  it('is shared by three endpoints of one account that takes 50 a second', () => {
    const { answered, seconds, refusedShare } = found({
      serve: takesRate(50),
      jobs: 3_000,
      inFlight: 40,
      endpoints: ['a', 'b', 'c'],
    });
    expect(answered / seconds / 50).toBeGreaterThan(0.8);
    expect(refusedShare).toBeLessThan(0.05);
  });

  it('is forgotten with its endpoint: 2,000 of them one after another [fault 4b]', () => {
    const endpoints = Array.from({ length: 2_000 }, (_, n) => `endpoint-${n}`);
    const { jobs } = found({ serve: withNoise(0.1), jobs: 4_000, endpoints });
    expect(jobs).toBe(4_000);
  });
});
