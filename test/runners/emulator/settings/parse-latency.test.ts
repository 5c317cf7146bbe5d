import { describe, expect, it } from 'vitest';
import { parseLatency } from '../../../../runners/emulator/settings/parse-latency.js';
import { seededRandom } from '../../../../runners/emulator/create-service.js';

function draws(text: string): number[] {
  const random = seededRandom(3);
  const latency = parseLatency(text);
  return Array.from({ length: 4_001 }, () => latency.sample(random)).sort((a, b) => a - b);
}

const mean = (numbers: number[]): number => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;

describe('parseLatency', () => {
  it.each([
    ['0', 0],
    ['200', 200],
    ['fixed:200', 200],
    ['fixed:1.5s', 1_500],
  ])('reads %s as a fixed time', (text, ms) => {
    expect(new Set(draws(text))).toEqual(new Set([ms]));
  });

  it.each(['uniform:100-300', 'uniform:100:300'])('reads %s as evenly spread', (text) => {
    const all = draws(text);
    expect(all[0]).toBeGreaterThanOrEqual(100);
    expect(all.at(-1)).toBeLessThan(300);
    expect(mean(all)).toBeCloseTo(200, -1);
  });

  it('reads normal as mean and deviation, never below 0', () => {
    const all = draws('normal:500:100');
    expect(mean(all)).toBeCloseTo(500, -1);
    expect(Math.sqrt(mean(all.map((n) => (n - 500) ** 2)))).toBeCloseTo(100, -1);
    expect(draws('normal:0:100')[0]).toBe(0);
  });

  it('reads lognormal as median and sigma', () => {
    const all = draws('lognormal:800:0.5');
    expect(all[2_000]! / 800).toBeCloseTo(1, 1);
    expect(Math.log(all[Math.floor(4_001 * 0.8413)]! / 800)).toBeCloseTo(0.5, 1);
  });

  it('reads exponential as its mean', () => {
    expect(mean(draws('exponential:400')) / 400).toBeCloseTo(1, 1);
  });

  it.each([
    '',
    'fast',
    'fixed',
    'fixed:-1',
    'fixed:1:2',
    'uniform:300-100',
    'uniform:5',
    'normal:5',
    'lognormal:800',
    'lognormal:800:x',
    'lognormal:800:0.5:1',
    'toString:1',
    '200:1',
  ])('refuses %j and says what is allowed', (text) => {
    expect(() => parseLatency(text)).toThrow(/lognormal:800:0.5/);
  });
});
