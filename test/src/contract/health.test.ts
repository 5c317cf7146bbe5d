import { describe, expect, it } from 'vitest';
import { healthSchema } from '../../../src/contract/health.js';

describe('healthSchema', () => {
  it('keeps counts it does not know', () => {
    const health = { jobs: { inQueue: 3, completed: 0 }, workers: { idle: 1, throttled: 2 }, region: 'x' };
    expect(healthSchema.parse(health)).toEqual(health);
  });

  it.each([{}, { jobs: null, workers: 'none' }, { jobs: { inQueue: 'many' } }])(
    'makes do with %j',
    (health) => {
      expect(healthSchema.parse(health).jobs?.inQueue).toBeUndefined();
    },
  );
});
