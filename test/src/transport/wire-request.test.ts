import { describe, expect, it } from 'vitest';
import { version } from '../../../src/contract/version.js';
import { phaseTimeouts, wireHeaders } from '../../../src/transport/transport.js';

describe('phaseTimeouts', () => {
  it('grants the service its time, and the whole no less than its parts', () => {
    const limits = phaseTimeouts(60_000);
    const { requestMs, idleMs, ...phases } = limits;
    expect(limits.responseMs).toBe(60_000);
    expect(idleMs).toBeLessThan(limits.readMs);
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

describe('wireHeaders', () => {
  it('carries the key on every request and the content type with a body', () => {
    expect(wireHeaders('K', true)).toEqual({
      Accept: 'application/json',
      'User-Agent': `millrace/${version}`,
      Authorization: 'Bearer K',
      'Content-Type': 'application/json',
    });
  });

  it('leaves out what there is not', () => {
    expect(Object.keys(wireHeaders(undefined, false))).toEqual(['Accept', 'User-Agent']);
  });
});
