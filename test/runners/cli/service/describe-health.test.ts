import { describe, expect, it } from 'vitest';
import { describeHealth } from '../../../../runners/cli/service/check-service.js';

describe('describeHealth', () => {
  it.each([
    [{ workers: { idle: 0, running: 0 }, jobs: { inQueue: 12 } }, 'no worker is up, 12 jobs in its queue'],
    [{ workers: { idle: 1, running: 3 } }, '3 of 4 workers busy'],
    [{}, undefined],
  ])('%j', (health, words) => {
    expect(describeHealth(health)).toBe(words);
  });
});
