import { describe, expect, it } from 'vitest';
import { isTerminal, jobStates } from '../../../src/contract/job-state.js';

describe('isTerminal', () => {
  it('is true of the four ends and of no other state', () => {
    expect(jobStates.filter(isTerminal)).toEqual(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);
  });

  it.each(['', 'completed', 'DONE', 'constructor'])('is false of %j', (status) => {
    expect(isTerminal(status)).toBe(false);
  });
});
