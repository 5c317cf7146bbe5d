import { describe, expect, it } from 'vitest';
import { gotFault } from '../../../src/transport/got/got-fault.js';

describe('gotFault', () => {
  it('reads an error that is not of got', () => {
    const error = Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR' });
    expect(gotFault(error, { neverConnected: () => false }, true)).toEqual({
      message: 'unexpected end of file',
      code: 'Z_BUF_ERROR',
      syscall: undefined,
      timedOut: undefined,
      neverConnected: false,
      responded: true,
    });
  });

  it('asks about the error itself whether it ended the connection early', () => {
    const error = new Error('early');
    expect(gotFault(error, { neverConnected: (asked) => asked === error }, false).neverConnected).toBe(true);
  });
});
