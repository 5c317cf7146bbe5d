import { expect, it } from 'vitest';
import * as limits from '../../../src/contract/limits.js';

it('the limits are those of the specification', () => {
  expect(limits).toMatchObject({
    maxImages: 14,
    recommendedImages: 3,
    defaultRunsyncTimeoutMs: 60_000,
    imageUrlLifetimeMs: 604_800_000,
    waitBoundsMs: { min: 1_000, max: 300_000 },
    retentionMs: { run: 1_800_000, runsync: 60_000, job: 86_400_000 },
  });
});
