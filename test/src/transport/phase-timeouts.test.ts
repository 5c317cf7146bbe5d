import { describe, expect, it } from 'vitest';
import { phaseTimeouts } from '../../../src/transport/phase-timeouts.js';

describe('phaseTimeouts', () => {
  it('grants the service its time, and the whole no less than its parts', () => {
    const limits = phaseTimeouts(60_000);
    const { requestMs, ...phases } = limits;
    expect(limits.responseMs).toBe(60_000);
    expect(requestMs).toBe(Object.values(phases).reduce((sum, ms) => sum + ms));
  });

  it('takes other limits, 0 among them', () => {
    expect(phaseTimeouts(5, { readMs: 0, requestMs: 7 })).toMatchObject({
      responseMs: 5,
      readMs: 0,
      requestMs: 7,
    });
  });
});
