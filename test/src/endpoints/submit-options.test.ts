import { describe, expect, it } from 'vitest';
import { checkWait, submissionFields, type SubmitOptions } from '../../../src/endpoints/call-options.js';

const key = 'canary-key-0123';
const fields = (options: SubmitOptions<never>) => submissionFields(options, [key]);
const refused = (options: object) => expect(() => fields(options));

describe('submissionFields', () => {
  it('writes a policy and a webhook as the service takes them', () => {
    expect(fields({})).toStrictEqual({});
    expect(
      fields({
        policy: { executionTimeoutMs: 60_000, ttlMs: 3_600_000, lowPriority: true },
        webhook: 'https://hooks.example/done?of=7',
      }),
    ).toStrictEqual({
      policy: { executionTimeout: 60_000, ttl: 3_600_000, lowPriority: true },
      webhook: 'https://hooks.example/done?of=7',
    });
  });

  it('refuses a policy by the name of its field', () => {
    refused({ policy: { ttlMs: 0 } }).toThrow('policy.ttlMs');
    refused({ policy: { executionTimeoutMs: 1.5 } }).toThrow('policy.executionTimeoutMs');
    refused({ policy: { lowPriority: 'yes' } }).toThrow('policy.lowPriority');
    refused({ policy: { ttl: 5 } }).toThrow(
      'policy.ttl: is not a field: executionTimeoutMs, ttlMs, lowPriority',
    );
    refused({ policy: { constructor: 5 } }).toThrow('policy.constructor');
  });

  it.each(['', '/done', 'ftp://hooks.example', 'javascript:alert(1)', 'https://hooks.example/a b', 7])(
    'refuses %j for a webhook, without quoting it',
    (webhook) => {
      refused({ webhook }).toThrow(/^webhook: (is|contains) [^:]*$/);
    },
  );

  it.each([`https://hooks.example/?key=${key}`, `https://${key}@hooks.example/`])(
    'never lets the key go to a webhook: %s',
    (webhook) => {
      refused({ webhook }).toThrow(expect.objectContaining({ code: 'invalid-option' }));
      refused({ webhook }).not.toThrow(key);
    },
  );
});

describe('checkWait', () => {
  it('takes whole numbers within the bounds of the service', () => {
    for (const waitMs of [undefined, 1_000, 300_000]) expect(() => checkWait(waitMs)).not.toThrow();
    for (const waitMs of [0, 999, 300_001, 1_000.5, Number.NaN])
      expect(() => checkWait(waitMs)).toThrow('waitMs: is not a whole number from 1000 to 300000');
  });
});
