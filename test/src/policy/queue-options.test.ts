import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/contract/millrace-error.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import { type QueueOptions, resolveQueueOptions } from '../../../src/policy/queue-options.js';

function problem(options: unknown): InvalidOptionError {
  try {
    resolveQueueOptions(options as QueueOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    return error as InvalidOptionError;
  }
  throw new Error('the options were taken');
}

describe('resolveQueueOptions', () => {
  const defaults = {
    executionTimeoutMs: 60_000,
    deadlineMs: 3_600_000,
    onUnsubscribe: 'detach',
    retry: { maxRetries: 4, initialMs: 500, factor: 2, maxMs: 30_000 },
  };

  it.each([undefined, {}, { deadlineMs: undefined, retry: undefined }, { retry: {} }])(
    'fills in %j',
    (options) => {
      expect(resolveQueueOptions(options)).toMatchObject(defaults);
      expect(resolveQueueOptions(options).poll).toHaveProperty('pollTimes');
    },
  );

  it('keeps what is given, 0 among it', () => {
    const poll = pollFixed(10);
    const resolved = resolveQueueOptions({
      executionTimeoutMs: 600_000,
      deadlineMs: 0,
      onUnsubscribe: 'cancel',
      poll,
      retry: { maxRetries: 0, initialMs: 0 },
    });
    expect(resolved).toEqual({
      executionTimeoutMs: 600_000,
      deadlineMs: 0,
      onUnsubscribe: 'cancel',
      poll,
      retry: { maxRetries: 0, initialMs: 0, factor: 2, maxMs: 30_000 },
    });
    expect(resolved.poll).toBe(poll);
  });

  it.each([
    [{ executionTimeoutMs: 0 }, 'executionTimeoutMs'],
    [{ executionTimeoutMs: '60s' }, 'executionTimeoutMs'],
    [{ deadlineMs: -1 }, 'deadlineMs'],
    [{ deadlineMs: Number.NaN }, 'deadlineMs'],
    [{ deadlineMs: Infinity }, 'deadlineMs'],
    [{ onUnsubscribe: 'abort' }, 'onUnsubscribe'],
    [{ poll: 500 }, 'poll'],
    [{ poll: null }, 'poll'],
    [{ poll: { pollTimes: () => undefined } }, 'poll'],
    [{ retry: { maxRetries: 1.5 } }, 'retry.maxRetries'],
    [{ retry: { maxRetries: -1 } }, 'retry.maxRetries'],
    [{ retry: { factor: 0.5 } }, 'retry.factor'],
    [{ retry: { maxAttempts: 3 } }, 'retry.maxAttempts'],
    [{ deadline: 5 }, 'deadline'],
    [7, 'options'],
    [null, 'options'],
  ])('refuses %j by name', (options, name) => {
    expect(problem(options)).toMatchObject({ option: name, code: 'invalid-option' });
  });
});
