import { describe, expect, it } from 'vitest';
import { outcomeOf, whatWasAsked } from '../../../../src/operators/requests/outcome-of.js';
import { requestTo } from '../../../support/virtual-time.js';

const asked = requestTo('/v2/e/status/j', 'GET');

describe('outcomeOf', () => {
  it('gives a completed job with what is known of it', () => {
    const job = {
      id: 'j',
      status: 'COMPLETED',
      output: { x: 1, cost: 0.13 },
      delayTime: 4,
      executionTime: 9,
    };
    expect(outcomeOf(job, asked)).toStrictEqual({
      status: 'completed',
      jobId: 'j',
      output: { x: 1, cost: 0.13 },
      costUsd: 0.13,
      delayTimeMs: 4,
      executionTimeMs: 9,
    });
  });

  it('takes a completed job without output or cost as it is', () => {
    expect(outcomeOf({ id: 'j', status: 'COMPLETED' }, asked)).toStrictEqual({
      status: 'completed',
      jobId: 'j',
      output: undefined,
      costUsd: null,
    });
  });

  it('keeps the error of a job that completed without an output: it is paid', () => {
    const of = (more: object) => outcomeOf({ id: 'j', status: 'COMPLETED', ...more }, asked);
    expect(of({ error: 'boom' })).toMatchObject({ status: 'completed', output: { error: 'boom' } });
    expect(of({ output: null, error: 'boom' })).toMatchObject({ output: { error: 'boom' } });
    expect(of({ output: 'x', error: 'boom' })).toMatchObject({ output: 'x' });
    expect(of({ output: null, error: null })).toMatchObject({ output: null });
  });

  it.each([
    ['FAILED', 'job-failed'],
    ['CANCELLED', 'job-cancelled'],
    ['TIMED_OUT', 'job-timed-out'],
  ] as const)('gives %s as %s, not paid', (status, code) => {
    expect(outcomeOf({ id: 'j', status, error: 'boom' }, asked)).toStrictEqual({
      status: 'failed',
      code,
      paid: 'no',
      jobId: 'j',
      message: `GET /v2/e/status/j: ${status}: boom`,
    });
  });

  it.each([
    ['FAILED', 0.05],
    ['CANCELLED', 0.05],
    ['TIMED_OUT', '0.05'],
  ])('gives %s with a cost of %j as paid', (status, cost) => {
    const outcome = outcomeOf({ id: 'j', status, error: 'boom', output: { cost } }, asked);
    expect(outcome).toMatchObject({ status: 'failed', code: 'charged', paid: 'yes' });
  });

  it('gives FAILED with a cost of 0 as not paid', () => {
    const outcome = outcomeOf({ id: 'j', status: 'FAILED', output: { cost: 0 } }, asked);
    expect(outcome).toMatchObject({ code: 'job-failed', paid: 'no' });
  });

  it('unfolds an error that is itself JSON, and says what is meant where there is none', () => {
    const error = JSON.stringify({
      error_type: 'ValueError',
      error_message: 'bad url',
      error_traceback: 'line 1',
    });
    expect(
      outcomeOf({ id: 'j', status: 'FAILED', error, output: 'partial', executionTime: 3 }, asked),
    ).toMatchObject({
      message: 'GET /v2/e/status/j: FAILED: ValueError: bad url',
      detail: 'line 1',
      output: 'partial',
      executionTimeMs: 3,
    });
    expect(outcomeOf({ status: 'FAILED' }, asked)).toStrictEqual({
      status: 'failed',
      code: 'job-failed',
      paid: 'no',
      message: 'GET /v2/e/status/j: FAILED: the job ended as FAILED',
    });
  });

  it('names method and path, never the host', () => {
    expect(whatWasAsked({ method: 'POST', url: 'https://key@host.test:8443/v2/e/run?wait=1' })).toBe(
      'POST /v2/e/run',
    );
  });
});
