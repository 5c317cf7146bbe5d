import { describe, expect, it } from 'vitest';
import { queueRequestSchema } from '../../../src/contract/queue-request.js';

describe('queueRequestSchema', () => {
  it('takes an input and hands it on as it is', () => {
    const request = { input: { nested: { a: [1] } } };
    expect(queueRequestSchema.parse(request).input).toBe(request.input);
  });

  it('takes what live services take beside it', () => {
    const request = {
      input: {},
      policy: { executionTimeout: 60_000, ttl: 1, lowPriority: false },
      webhook: 'https://hooks.example/x',
    };
    expect(queueRequestSchema.parse(request)).toEqual(request);
  });

  it.each([
    {},
    { input: null },
    { input: [] },
    { input: 'text' },
    { input: {}, extra: 1 },
    { input: {}, webhook: 'ftp://x' },
    { input: {}, policy: { ttl: 0 } },
    { input: {}, policy: { ttl: 1.5 } },
    { input: {}, policy: { priority: 1 } },
  ])('refuses %j', (request) => {
    expect(queueRequestSchema.safeParse(request).success).toBe(false);
  });
});
