import { describe, expect, it } from 'vitest';
import type { Judged } from '../../../../src/operators/requests/exchange.js';
import { failureOf } from '../../../../src/operators/requests/outcome-of.js';
import { BadRequestError } from '../../../../src/transport/reply-error.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import { requestTo } from '../../../support/virtual-time.js';

const request = requestTo('/v2/e/run');
const verdict = { verdict: 'ambiguous' } as const;

describe('failureOf', () => {
  it('says what a reply said', () => {
    const error = new BadRequestError('POST /v2/e/run: HTTP 400: no prompt', {
      httpStatus: 400,
      detail: 'line 1',
    });
    const judged: Judged = {
      verdict,
      reading: { status: 400, body: 'error', error, retryAfterMs: undefined },
    };
    expect(failureOf('rejected', judged, { request })).toStrictEqual({
      status: 'failed',
      code: 'rejected',
      paid: 'no',
      message: 'POST /v2/e/run: HTTP 400: no prompt',
      detail: 'line 1',
      httpStatus: 400,
    });
  });

  it('says what a fault was, with advice and what else is known', () => {
    const fault = new TransportError('reset', 'ECONNRESET', 'maybe', false, 'connection reset');
    expect(
      failureOf('unknown', { verdict, fault }, { request, jobId: 'j', paid: 'maybe', advice: 'look there' }),
    ).toStrictEqual({
      status: 'failed',
      code: 'unknown',
      paid: 'maybe',
      jobId: 'j',
      message: 'connection reset; look there',
    });
  });

  it('takes a FAILED body for what it is, with an HTTP status only where that is an error', () => {
    const job = { id: 'j', status: 'FAILED', error: 'bad url' } as const;
    const failed = (status: number) =>
      failureOf('rejected', { verdict, reading: { status, body: 'failed', job } }, { request });
    expect(failed(400)).toStrictEqual({
      status: 'failed',
      code: 'rejected',
      paid: 'no',
      jobId: 'j',
      message: 'POST /v2/e/run: FAILED: bad url',
      httpStatus: 400,
    });
    expect(failed(200)).not.toHaveProperty('httpStatus');
  });

  it('says at least the status of a reply that is readable otherwise', () => {
    const judged: Judged = { verdict, reading: { status: 202, body: 'value', value: 1 } };
    expect(failureOf('unknown', judged, { request })).toMatchObject({
      message: 'POST /v2/e/run: HTTP 202',
      httpStatus: 202,
    });
  });
});
