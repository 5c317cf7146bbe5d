import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError, isMillraceError, MillraceError } from '../../../src/contract/millrace-error.js';

describe('MillraceError', () => {
  it('has the name of its class, a code and a cause', () => {
    class DiskError extends MillraceError {}
    const cause = new Error('ENOSPC');
    const error = new DiskError('disk', 'the disk is full', { cause });
    expect(error).toMatchObject({ name: 'DiskError', code: 'disk', message: 'the disk is full', cause });
    expect(error).toBeInstanceOf(Error);
  });
});

it('has the name that its class gives itself, whatever a minifier makes of the class', () => {
  const Minified = class a extends MillraceError {
    static override readonly name: string = 'DiskError';
  };
  expect(new Minified('disk', 'the disk is full').name).toBe('DiskError');
  expect(inspect(new Minified('disk', 'the disk is full'))).toMatch(/^DiskError: the disk is full\n/);
});

describe('isMillraceError', () => {
  it('knows an error of another copy of the package', () => {
    expect(isMillraceError({ [Symbol.for('millrace.error')]: true })).toBe(true);
  });

  it.each([new Error('x'), undefined, null, 'text', {}])('does not take %s for one', (value) => {
    expect(isMillraceError(value)).toBe(false);
  });
});

describe('InvalidOptionError', () => {
  it('names the option', () => {
    const error = new InvalidOptionError('deadlineMs', 'is not a number', { cause: 7 });
    expect(error).toMatchObject({
      name: 'InvalidOptionError',
      code: 'invalid-option',
      option: 'deadlineMs',
      message: 'deadlineMs: is not a number',
      cause: 7,
    });
    expect(isMillraceError(error)).toBe(true);
  });
});
