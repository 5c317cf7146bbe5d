import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { createBudget } from '../../../src/operators/budget/create-budget.js';
import { withinBudget } from '../../../src/operators/budget/within-budget.js';
import {
  completed,
  jobEvents as events,
  failed,
  jobOver,
  settled,
} from '../../../src/testing/in-virtual-time.js';
import { inVirtualTime } from '../../support/virtual-time.js';

const values = {
  ...events,
  c: settled(completed('out', 0.2)),
  x: settled(failed('output-mismatch', 'yes', { output: { cost: 0.25 } })),
  y: settled(failed('output-mismatch', 'yes', { output: 'text' })),
} satisfies Record<string, JobEvent<string>>;

/** What a job of these marbles leaves in a budget of $1 at a price of $0.40. */
const after = (marbles: string, unsubscription?: string) => {
  const budget = createBudget(1);
  inVirtualTime(({ cold, expectObservable }) => {
    const job = cold<JobEvent<string>>(marbles, values).pipe(withinBudget(budget, 0.4));
    const shown = unsubscription === undefined ? marbles : marbles.slice(0, unsubscription.length - 1);
    expectObservable(job, unsubscription).toBe(shown, values);
  });
  const { reservedUsd, spentUsd, unknownUsd } = budget.state();
  return { reservedUsd, spentUsd, unknownUsd };
};
const nothing = { reservedUsd: 0, spentUsd: 0, unknownUsd: 0 };

describe('withinBudget', () => {
  it('settles at the reported cost, else at the price', () => {
    expect(after('s-c|')).toStrictEqual({ ...nothing, spentUsd: 0.2 });
    expect(after('s-d|')).toStrictEqual({ ...nothing, spentUsd: 0.4 });
    expect(after('s-x|')).toStrictEqual({ ...nothing, spentUsd: 0.25 });
    expect(after('s-y|')).toStrictEqual({ ...nothing, spentUsd: 0.4 });
  });

  it('gives back what is not paid and keeps what may be', () => {
    expect(after('s-f|')).toStrictEqual(nothing);
    expect(after('s-m|')).toStrictEqual({ ...nothing, unknownUsd: 0.4 });
  });

  it('gives back what was never sent: never, empty, an error, a wait after a refusal', () => {
    expect(after('-', '^---!')).toStrictEqual(nothing);
    expect(after('|')).toStrictEqual(nothing);
    expect(after('-#')).toStrictEqual(nothing);
    expect(after('s-w--', '^---!')).toStrictEqual(nothing);
  });

  it('keeps what is under way when it is unsubscribed or breaks off', () => {
    expect(after('s----', '^---!')).toStrictEqual({ ...nothing, unknownUsd: 0.4 });
    expect(after('s-aqw-', '^----!')).toStrictEqual({ ...nothing, unknownUsd: 0.4 });
    expect(after('s-a-#')).toStrictEqual({ ...nothing, unknownUsd: 0.4 });
    expect(after('s-|')).toStrictEqual({ ...nothing, unknownUsd: 0.4 });
  });

  it('sends nothing without room', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const job = cold<JobEvent<string>>('s-d|', values);
      const over = settled(
        failed('over-budget', 'no', {
          message:
            'no room for $0.40 under the cap of $0.30 (spent $0.00, reserved $0.00, unknown $0.00); nothing was sent',
        }),
      );
      expectObservable(job.pipe(withinBudget(createBudget(0.3), 0.4))).toBe('(o|)', { o: over });
      expectSubscriptions(job.subscriptions).toBe([]);
    });
  });

  it('reserves once for a job, whoever subscribes how often', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const budget = createBudget(1);
      const job = jobOver(cold<JobEvent<string>>('s-a--c|', values), 'j');
      const within = withinBudget<string>(budget, 0.8);
      expectObservable(job.pipe(within), '^--!').toBe('s-a-', values);
      expectObservable(job.pipe(within), '-^---!').toBe('-s-a--', values);
      expectObservable(job.pipe(within)).toBe('s-a--c|', values);
      flush();
      expect(budget.state()).toStrictEqual({ capUsd: 1, ...nothing, spentUsd: 0.2 });
    });
  });

  it('keeps the room of a job with an id, whatever its last event', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const budget = createBudget(1);
      const job = jobOver(cold<JobEvent<string>>('w----', values), 'j');
      expectObservable(job.pipe(withinBudget(budget, 0.4)), '^--!').toBe('w--', values);
      flush();
      expect(budget.state().unknownUsd).toBe(0.4);
    });
  });

  it('gives back what a job that was left and cancelled had kept, once its end is heard', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const budget = createBudget(1);
      const ends: Record<string, JobEvent<string>> = { ...values, x: settled(failed('job-cancelled', 'no')) };
      const job = jobOver(cold<JobEvent<string>>('s-a--x|', ends), 'j');
      const within = job.pipe(withinBudget(budget, 0.4));
      expectObservable(within, '^--!').toBe('s-a-', values);
      flush();
      expect(budget.state()).toStrictEqual({ capUsd: 1, ...nothing, unknownUsd: 0.4 });
      expectObservable(within).toBe('---s-a--x|', ends);
      flush();
      expect(budget.state()).toStrictEqual({ capUsd: 1, ...nothing });
    });
  });

  it('refuses a price that is none', () => {
    expect(() => withinBudget(createBudget(1), Number.NaN)).toThrow('priceUsd');
  });
});
