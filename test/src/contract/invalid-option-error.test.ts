import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/contract/invalid-option-error.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';

describe('InvalidOptionError', () => {
  it('names the option', () => {
    const error = new InvalidOptionError('deadlineMs', 'is no number', { cause: 7 });
    expect(error).toMatchObject({
      name: 'InvalidOptionError',
      code: 'invalid-option',
      option: 'deadlineMs',
      message: 'deadlineMs: is no number',
      cause: 7,
    });
    expect(isMillraceError(error)).toBe(true);
  });
});
