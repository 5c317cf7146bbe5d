import { expect, it } from 'vitest';
import { failureCodes } from '../../../src/contract/failure-code.js';

it('what stops a run has cost nothing, and every code says what it means', () => {
  for (const { scope, paid, meaning } of Object.values(failureCodes)) {
    if (scope === 'stop') expect(paid).toBe('no');
    expect(meaning).toMatch(/^\w.*\w\)?$/);
  }
});
