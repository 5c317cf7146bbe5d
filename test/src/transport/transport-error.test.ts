import { describe, expect, it } from 'vitest';
import {
  type ClientFault,
  faultOf,
  readClientError,
  tooLarge,
} from '../../../src/transport/transport-error.js';

const request = {
  method: 'POST',
  url: 'https://api.example/v2/x/run?a=b',
  headers: { authorization: 'Bearer sesame-1234' },
} as const;

function facts(more: Partial<ClientFault>): ClientFault {
  return { message: 'broken', neverConnected: false, responded: false, ...more };
}

describe('faultOf', () => {
  it.each([
    [{ code: 'ECONNREFUSED', syscall: 'connect' }, 'connect', 'no'],
    [{ code: 'ECONNREFUSED' }, 'connect', 'no'],
    [{ code: 'ETIMEDOUT', syscall: 'connect' }, 'connect', 'no'],
    [{ code: 'EADDRNOTAVAIL', syscall: 'connect' }, 'connect', 'no'],
    [{ code: 'EHOSTUNREACH', syscall: 'connect' }, 'connect', 'no'],
    [{ code: 'EHOSTUNREACH', syscall: 'read' }, 'reset', 'maybe'],
    [{ code: 'ENETUNREACH', syscall: 'write' }, 'reset', 'maybe'],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 'lookup', 'no'],
    [{ code: 'EAI_FAIL' }, 'lookup', 'no'],
    [{ code: 'EMFILE', syscall: 'getaddrinfo' }, 'lookup', 'no'],
    [{ code: 'CERT_HAS_EXPIRED' }, 'tls', 'no'],
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'tls', 'no'],
    [{ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, 'tls', 'no'],
    [{ code: 'EPROTO', neverConnected: true }, 'tls', 'no'],
    [{ code: 'EPROTO' }, 'reset', 'maybe'],
    [{ code: 'ECONNRESET', neverConnected: true }, 'connect', 'no'],
    [{ code: 'ECONNRESET', syscall: 'read' }, 'reset', 'maybe'],
    [{ code: 'ECONNRESET', responded: true }, 'read', 'maybe'],
    [{ code: 'EPIPE', syscall: 'write' }, 'reset', 'maybe'],
    [{ code: 'HPE_INVALID_CONSTANT' }, 'response', 'maybe'],
    [{ code: 'ERR_BUFFER_TOO_LARGE', responded: true }, 'too-large', 'maybe'],
    [{ code: 'ERR_INVALID_CHAR' }, 'send', 'no'],
    [{ code: 'UND_ERR_INVALID_ARG' }, 'send', 'no'],
    [{ code: 'UND_ERR_SOCKET' }, 'reset', 'maybe'],
    [{}, 'reset', 'maybe'],
  ] as const)('%j → phase %s, sent %s', (more, phase, sent) => {
    expect(faultOf(request, facts(more))).toMatchObject({ phase, sent, timedOut: false });
  });

  it.each([
    ['lookup', 'no'],
    ['connect', 'no'],
    ['secure-connect', 'no'],
    ['send', 'maybe'],
    ['response', 'maybe'],
    ['read', 'maybe'],
  ] as const)('a timeout in %s → sent %s', (timedOut, sent) => {
    expect(faultOf(request, facts({ timedOut }))).toMatchObject({
      phase: timedOut,
      sent,
      systemCode: 'ETIMEDOUT',
    });
  });

  it('says method, host and path, and why; no query and no key', () => {
    const fault = faultOf(request, facts({ code: 'EPIPE', message: 'cannot write Bearer sesame-1234' }));
    expect(fault.message).toBe('POST api.example/v2/x/run: cannot write Bearer [redacted] (EPIPE)');
    expect(fault).toMatchObject({ code: 'transport', name: 'TransportError' });
  });

  it('names a code once, and does without a message', () => {
    expect(faultOf(request, facts({ code: 'EPIPE', message: 'write EPIPE' })).message).toMatch(
      /: write EPIPE$/,
    );
    expect(faultOf(request, facts({ message: '' })).message).toMatch(/: failed$/);
    expect(faultOf({ ...request, url: '::' }, facts({})).message).toBe('POST an invalid URL: broken');
  });
});

describe('tooLarge', () => {
  it('says how large it may be', () => {
    expect(tooLarge(request, 5)).toMatchObject({
      phase: 'too-large',
      sent: 'maybe',
      message: 'POST api.example/v2/x/run: the reply is larger than 5 bytes',
    });
  });
});

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
