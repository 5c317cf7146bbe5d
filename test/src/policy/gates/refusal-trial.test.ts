import { describe, expect, it } from 'vitest';
import { RefusalTrial, type TrialStep } from '../../../../src/policy/gates/refusal-trial.js';
import { seeded } from '../../../support/seeded.js';

/** A load that obeys the steps of a trial, against a service that refuses a share of the answers by the load. */
function play(answers: number, shareAt: (load: number, nth: number) => number, seed = 1) {
  const random = seeded(seed);
  const trial = new RefusalTrial();
  const steps: TrialStep[] = [];
  const loads: number[] = [];
  let load = 100;
  let before = load;
  let inTrial = load;
  let refused = 0;
  for (let n = 0; n < answers; n++) {
    const isRefused = random() < shareAt(load, n);
    if (isRefused) refused += 1;
    const step = trial.observe(isRefused, load < before);
    if (step === 'lower' || step === 'try') {
      if (load >= before) before = load;
      load *= step === 'lower' ? 0.9 * trial.cautiousThrough : 0.5 * Math.max(trial.throughBefore, 0.25);
    } else if (step === 'noise') {
      inTrial = load;
      load = before;
    } else if (step === 'limit') load = before = inTrial;
    else if (!trial.isTrying) load *= 1.001;
    if (step !== undefined) steps.push(step);
    loads.push(load);
  }
  return { trial, steps, loads, refusedShare: refused / answers };
}

const average = (loads: readonly number[]) => loads.reduce((sum, load) => sum + load, 0) / loads.length;

describe('a trial of refusals', () => {
  it('does nothing about refusals that are rare', () => {
    expect(play(5_000, (_load, n) => (n % 100 === 0 ? 1 : 0)).steps).toStrictEqual([]);
  });

  it.each([0.05, 0.1, 0.3])('finds out that %s of refusals at any load are noise', (share) => {
    const { trial, steps, loads } = play(10_000, () => share);
    expect(steps.slice(0, 3)).toStrictEqual(['lower', 'try', 'noise']);
    const verdicts = steps.filter((step) => step === 'load' || step === 'noise');
    expect(verdicts.filter((step) => step === 'load').length).toBeLessThanOrEqual(verdicts.length / 2);
    expect(trial.noise).toBeGreaterThan(0.3 * share);
    expect(trial.noise).toBeLessThan(1.6 * share);
    expect(loads.at(-1)).toBeGreaterThan(100);
    expect(loads.filter((load) => load < 90).length / loads.length).toBeLessThan(0.15);
  });

  it('keeps below a limit, with few refusals', () => {
    const { loads, refusedShare, steps } = play(20_000, (load) => Math.max(0, 1 - 80 / load));
    expect(steps).not.toContain('noise');
    expect(average(loads.slice(1_000))).toBeGreaterThan(55);
    expect(average(loads.slice(1_000))).toBeLessThan(82);
    expect(refusedShare).toBeLessThan(0.03);
  });

  it('withdraws the verdict of noise when the load that comes back gets no more through', () => {
    const trial = new RefusalTrial();
    /** Until the next step: one of every few answers is a refusal. */
    const next = (every: number) => {
      for (let n = 1; n <= 200; n++) {
        const step = trial.observe(n % every === 0, true);
        if (step !== undefined) return step;
      }
      return undefined;
    };
    expect([next(4), next(4), next(5)]).toStrictEqual(['lower', 'try', 'noise']);
    expect(trial.noise).toBeCloseTo(0.2, 1);
    for (let n = 0; n < 50; n++) expect(trial.observe(false, true)).toBeUndefined();
    expect(next(1)).toBe('limit');
    expect(trial.noise).toBe(0);
  });

  it('keeps below a limit where 10 % are noise', () => {
    const { loads } = play(40_000, (load) => 0.1 + 0.9 * Math.max(0, 1 - 80 / load));
    expect(average(loads.slice(5_000))).toBeGreaterThan(60);
    expect(average(loads.slice(5_000))).toBeLessThan(110);
  });

  it('believes no more in noise that has gone', () => {
    const { trial } = play(20_000, (_load, n) => (n < 5_000 ? 0.2 : 0));
    expect(trial.noise).toBeLessThan(0.05);
  });
});
