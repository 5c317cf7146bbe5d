import { describe, expect, it } from 'vitest';
import { createRateLimiter, parseRateLimit } from '../../../../runners/emulator/faults/rate-limit.js';
import { startEmulator } from '../../../../runners/emulator/index.js';
import { asking } from '../../../support/ask-emulator.js';
import { manualClock } from '../../../support/manual-clock.js';

describe('parseRateLimit', () => {
  it('reads a number, with Retry-After on request', () => {
    expect(parseRateLimit('100')).toEqual({ perSecond: 100, retryAfter: false });
    expect(parseRateLimit('0.5:retry-after')).toEqual({ perSecond: 0.5, retryAfter: true });
  });

  it.each(['', '0', '-1', 'many', '5:sometimes', 'Infinity'])('refuses %j', (text) => {
    expect(() => parseRateLimit(text)).toThrow(/neither a number of requests a second/);
  });
});

describe('createRateLimiter', () => {
  it('lets a second of requests through at once, then as many as the time allows', () => {
    let now = 0;
    const take = createRateLimiter({ perSecond: 2, retryAfter: false }, () => now);
    expect([take(), take(), take()]).toEqual([0, 0, 500]);
    now += 500;
    expect([take(), take()]).toEqual([0, 500]);
    now += 60_000;
    expect([take(), take(), take()]).toEqual([0, 0, 500]);
  });

  it('does not fall behind when the clock is set back', () => {
    let now = 1_000;
    const take = createRateLimiter({ perSecond: 1, retryAfter: false }, () => now);
    expect(take()).toBe(0);
    now = 0;
    expect(take()).toBe(1_000);
    now = 1_000;
    expect(take()).toBe(0);
  });
});

it.each([
  ['1', null],
  ['0.1:retry-after', '10'],
])(
  'answers 429 beyond %s a second, makes no job, and leaves pictures alone',
  async (rateLimit, retryAfter) => {
    const emulator = await startEmulator({ rateLimit, clock: manualClock() });
    const { post, get } = asking(emulator);
    expect((await post('/v2/echo/run', { input: {} })).status).toBe(200);
    const refused = await post('/v2/echo/run', { input: {} });
    expect([refused.status, refused.json.error, refused.headers.get('retry-after')]).toEqual([
      429,
      'too many requests',
      retryAfter,
    ]);
    expect((await get('/pictures/none.png')).status).toBe(404);
    expect(emulator.bill()).toHaveLength(1);
    await emulator.close();
  },
);
