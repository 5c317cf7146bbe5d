import { describe, expect, it } from 'vitest';
import { failureCodes, type FailureCode } from '../../../../src/contract/failure-code.js';
import { adviseOn } from '../../../../runners/report/messages/advise-on.js';
import { statusLabel } from '../../../../runners/report/messages/status-label.js';

const codes = Object.keys(failureCodes) as FailureCode[];

describe.each(codes)('a row that failed as %s', (code) => {
  it('has advice that is whole sentences and closes its code marks', () => {
    expect(adviseOn(code)).toMatch(/^[A-Z`].*[.]$/);
    expect(adviseOn(code).split('`').length % 2).toBe(1);
  });

  it('has a name', () => expect(statusLabel(code)).toMatch(/^[a-z ]+$/));
});

it('never advises to send again what may be paid for, but with the word that accepts it', () => {
  for (const code of codes.filter((one) => failureCodes[one].paid !== 'no')) {
    expect(adviseOn(code)).not.toContain('--retry failed');
  }
});
