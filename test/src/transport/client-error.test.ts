import { describe, expect, it } from 'vitest';
import { readClientError } from '../../../src/transport/client-error.js';

describe('readClientError', () => {
  it('reads message, code and syscall', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    expect(readClientError(error)).toEqual({
      message: 'connect ECONNREFUSED',
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
  });

  it('takes the message of the first of several addresses', () => {
    const all = Object.assign(
      new AggregateError([new Error('connect ::1'), new Error('connect 127.0.0.1')]),
      { code: 'ECONNREFUSED' },
    );
    expect(readClientError(all)).toMatchObject({ message: 'connect ::1', code: 'ECONNREFUSED' });
  });

  it.each([undefined, null, 'text', 7, new AggregateError([])])('makes do with %s', (error) => {
    expect(readClientError(error)).toEqual({ message: '', code: undefined, syscall: undefined });
  });

  it('knows a parser by its name', () => {
    const error = Object.assign(new Error('no HTTP'), { name: 'HTTPParserError' });
    expect(readClientError(error).code).toBe('HPE_INVALID_REPLY');
  });
});
