import { describe, expect, it } from 'vitest';
import { rateLimitedRun } from '../../../simulate/rate-limited-run.js';

const perSecond = 50;
/** A service that saves up no more than a fifth of a second's requests, and timers that ring late. */
const strict = { perSecond, burst: perSecond / 5, latenessMs: 15 };

describe(
  'a run of short jobs against a service that takes so many requests a second',
  { timeout: 120_000 },
  () => {
    it('told the rate, reaches it with hardly a 429', async () => {
      const { share, refused, exitCode, summary } = await rateLimitedRun({
        ...strict,
        rows: 400,
        options: { rate: perSecond },
      });
      expect(exitCode).toBe(0);
      expect(share).toBeGreaterThan(0.9);
      expect(refused).toBeLessThan(0.02);
      expect(summary?.thisStart.rate).toBe(perSecond);
    });

    it('finds it out, with few 429', async () => {
      const { share, refused, exitCode, summary } = await rateLimitedRun({ ...strict, rows: 800 });
      expect(exitCode).toBe(0);
      expect(share).toBeGreaterThan(0.75);
      expect(refused).toBeLessThan(0.05);
      expect(summary?.thisStart.rate).toBeGreaterThan(0.7 * perSecond);
      expect(summary?.thisStart.rate).toBeLessThan(1.5 * perSecond);
    });

    it('finds it out anew when it has changed meanwhile', async () => {
      const later = { afterMs: 4_000, perSecond: 100 };
      const { refused, summary } = await rateLimitedRun({
        perSecond: 20,
        burst: 20,
        later,
        rows: 700,
        latenessMs: 15,
      });
      expect(summary?.thisStart.rate).toBeGreaterThan(60);
      expect(refused).toBeLessThan(0.05);
    });

    it.each([
      { noise: 0.02, within: 8 },
      { noise: 0.1, within: 20 },
      { noise: 0.3, within: 60 },
    ])('does not collapse where $noise of the requests are refused at random', async ({ noise, within }) => {
      const { seconds, exitCode, summary } = await rateLimitedRun({
        perSecond: 1_000,
        noise,
        rows: 300,
        runMs: 20,
        options: { concurrency: 32 },
      });
      expect(exitCode).toBe(0);
      expect(summary?.rows.completed).toBe(300);
      expect(seconds).toBeLessThan(within);
    });

    it('keeps the rows in flight between 4 and 100, half as many when many answers are 500s', async () => {
      const { concurrency, exitCode } = await rateLimitedRun({
        perSecond: 10_000,
        rows: 300,
        broken: 0.2,
        runMs: 400,
      });
      expect(exitCode).toBe(0);
      expect(Math.min(...concurrency)).toBeGreaterThanOrEqual(4);
      expect(Math.max(...concurrency)).toBeLessThanOrEqual(100);
      expect(concurrency.some((rows, at) => rows <= (concurrency[at - 1] ?? 0) / 2)).toBe(true);
    });
  },
);
