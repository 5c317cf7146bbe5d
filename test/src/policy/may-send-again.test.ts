import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../../src/contract/failure-code.js';
import { maySendAgain } from '../../../src/policy/may-send-again.js';
import type { BodyKind, Exchange, RequestPurpose, Verdict } from '../../../src/policy/may-send-again.js';

const purposes: RequestPurpose[] = [
  ...(['submit', 'retry', 'route-post', 'route-get', 'poll'] as const),
  ...(['stream', 'cancel', 'health', 'purge'] as const),
];
/** What must not happen twice unasked: what buys, and what takes away. */
const buying: RequestPurpose[] = ['submit', 'retry', 'route-post', 'purge'];
const free = purposes.filter((purpose) => !buying.includes(purpose));
const bodies: BodyKind[] = ['job', 'failed', 'value', 'error', 'no-workers', 'unreadable'];
const phases = [
  'lookup',
  'connect',
  'tls',
  'secure-connect',
  'send',
  'response',
  'read',
  'too-large',
  'reset',
];

const ambiguous: Verdict = { verdict: 'ambiguous' };
const answer: Verdict = { verdict: 'answer' };
const final = (code: string): unknown => ({ verdict: 'final', code });
const again = (why: string, usedUp: string): unknown => ({ verdict: 'again', why, usedUp });
const reply = (status: number, body: BodyKind = 'unreadable', retryAfterMs?: number): Exchange => ({
  status,
  body,
  retryAfterMs,
});

describe('a request that buys work', () => {
  it.each(buying)('%s: is sent again when it provably never left', (purpose) => {
    expect(maySendAgain(purpose, { phase: 'connect', sent: 'no' })).toEqual(again('not-sent', 'unreachable'));
  });

  it.each(phases)('is in doubt when it may have left: %s [fault 2]', (phase) => {
    for (const purpose of buying) expect(maySendAgain(purpose, { phase, sent: 'maybe' })).toEqual(ambiguous);
  });

  it.each(buying)('%s: is sent again when it was provably refused', (purpose) => {
    expect(maySendAgain(purpose, reply(429))).toEqual(again('rate-limited', 'refused'));
    expect(maySendAgain(purpose, reply(503, 'error', 0))).toEqual(again('busy', 'refused'));
  });

  it.each([408, 409, 425, 499, 500, 502, 503, 504, 520])('is in doubt after HTTP %i', (status) => {
    for (const purpose of buying) expect(maySendAgain(purpose, reply(status))).toEqual(ambiguous);
    expect(maySendAgain('submit', reply(status, 'error'))).toEqual(ambiguous);
  });

  it.each([200, 201, 202, 204])('is in doubt after HTTP %i that cannot be read [fault 3]', (status) => {
    for (const purpose of buying) expect(maySendAgain(purpose, reply(status))).toEqual(ambiguous);
  });

  it.each([100, 300, 303, 304])('is in doubt after HTTP %i', (status) => {
    for (const purpose of buying) expect(maySendAgain(purpose, reply(status))).toEqual(ambiguous);
  });

  it.each([
    ['submit', 401, 'unauthorized'],
    ['submit', 403, 'unauthorized'],
    ['submit', 404, 'endpoint-not-found'],
    ['submit', 410, 'endpoint-not-found'],
    ['submit', 400, 'rejected'],
    ['submit', 413, 'rejected'],
    ['submit', 422, 'rejected'],
    ['submit', 402, 'refused'],
    ['submit', 307, 'insecure'],
    ['retry', 400, 'rejected'],
    ['retry', 404, 'expired'],
    ['retry', 401, 'unauthorized'],
    ['purge', 404, 'endpoint-not-found'],
    ['route-post', 404, 'route-not-found'],
    ['route-post', 400, 'rejected'],
    ['route-post', 401, 'unauthorized'],
  ] as const)('%s: HTTP %i ends it as %s', (purpose, status, code) => {
    expect(maySendAgain(purpose, reply(status))).toEqual(final(code));
  });

  it.each([200, 401, 404, 429, 500, 503])('is answered by a FAILED body under HTTP %i', (status) => {
    for (const purpose of ['submit', 'retry'] as const)
      expect(maySendAgain(purpose, reply(status, 'failed', 1_000))).toEqual(final('job-failed'));
  });

  it('is rejected by a FAILED body under HTTP 400', () => {
    expect(maySendAgain('submit', reply(400, 'failed'))).toEqual(final('rejected'));
  });

  it('is answered by a job, whatever the status', () => {
    expect(maySendAgain('submit', reply(200, 'job'))).toEqual(answer);
    expect(maySendAgain('submit', reply(500, 'job'))).toEqual(answer);
  });
});

describe('a route', () => {
  it.each(['route-post', 'route-get'] as const)('%s: has its function answer with an error', (purpose) => {
    for (const status of [400, 402, 410, 418, 422, 500, 502, 503])
      expect(maySendAgain(purpose, reply(status, 'error'))).toEqual(final('route-failed'));
    expect(maySendAgain(purpose, reply(404, 'error'))).toEqual(final('route-not-found'));
    expect(maySendAgain(purpose, reply(429, 'error'))).toEqual(again('rate-limited', 'refused'));
  });

  it('may have no worker yet: only a GET is tried again', () => {
    expect(maySendAgain('route-get', reply(500, 'no-workers'))).toEqual(again('no-workers', 'refused'));
    expect(maySendAgain('route-post', reply(500, 'no-workers'))).toEqual(final('route-failed'));
  });

  it('takes any value for an answer', () => {
    expect(maySendAgain('route-post', reply(200, 'value'))).toEqual(answer);
    expect(maySendAgain('route-get', reply(201, 'value'))).toEqual(answer);
  });

  it('says with a GET how it could not be had', () => {
    expect(maySendAgain('route-get', { phase: 'reset', sent: 'maybe' })).toEqual(
      again('transient', 'transport'),
    );
    expect(maySendAgain('route-get', reply(502))).toEqual(again('transient', 'transport'));
    expect(maySendAgain('route-get', reply(200))).toEqual(again('transient', 'malformed-reply'));
  });
});

describe('a poll', () => {
  it.each([200, 303, 400, 402, 408, 410, 418, 500, 502, 503])(
    'goes on to the deadline after HTTP %i',
    (status) => {
      expect(maySendAgain('poll', reply(status))).toEqual(again('transient', 'deadline'));
    },
  );

  it('goes on to the deadline after any fault but a broken trust [fault 2]', () => {
    expect(maySendAgain('poll', { phase: 'lookup', sent: 'no' })).toEqual(again('not-sent', 'deadline'));
    expect(maySendAgain('poll', { phase: 'too-large', sent: 'maybe' })).toEqual(
      again('transient', 'deadline'),
    );
    expect(maySendAgain('poll', { phase: 'tls', sent: 'no' })).toEqual(final('insecure'));
  });

  it('ends with a job that is gone, and with a key that is refused', () => {
    expect(maySendAgain('poll', reply(404, 'error'))).toEqual(final('expired'));
    expect(maySendAgain('poll', reply(404))).toEqual(again('transient', 'deadline'));
    expect(maySendAgain('poll', reply(401))).toEqual(final('unauthorized'));
  });

  it('is answered by a job in any state', () => {
    expect(maySendAgain('poll', reply(200, 'job'))).toEqual(answer);
    expect(maySendAgain('poll', reply(400, 'failed'))).toEqual(answer);
  });
});

describe('a question for chunks', () => {
  it('says whether chunks may have been handed out in vain', () => {
    expect(maySendAgain('stream', { phase: 'reset', sent: 'maybe' })).toEqual(again('transient', 'deadline'));
    expect(maySendAgain('stream', reply(200))).toEqual(again('transient', 'deadline'));
    expect(maySendAgain('stream', reply(502))).toEqual(again('transient', 'deadline'));
    expect(maySendAgain('stream', { phase: 'connect', sent: 'no' })).toEqual(again('not-sent', 'deadline'));
    expect(maySendAgain('stream', reply(429))).toEqual(again('rate-limited', 'deadline'));
    expect(maySendAgain('stream', reply(404))).toEqual(final('expired'));
    expect(maySendAgain('stream', reply(200, 'value'))).toEqual(answer);
  });
});

describe('the rule', () => {
  const fault = fc.record({
    phase: fc.constantFrom(...phases),
    sent: fc.constantFrom('no' as const, 'maybe' as const),
  });
  const answered = fc.record({
    status: fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constantFrom(200, 400, 401, 404, 429, 500, 503)),
    body: fc.constantFrom(...bodies),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 600_000 }), { nil: undefined }),
  });
  const exchange: fc.Arbitrary<Exchange> = fc.oneof(fault, answered);

  it('is total, and speaks of codes that exist', () => {
    fc.assert(
      fc.property(fc.constantFrom(...purposes), exchange, (purpose, happened) => {
        const verdict = maySendAgain(purpose, happened);
        expect(['answer', 'again', 'ambiguous', 'final']).toContain(verdict.verdict);
        if (verdict.verdict === 'final') expect(failureCodes).toHaveProperty(verdict.code);
        if (verdict.verdict === 'again') expect(failureCodes).toHaveProperty(verdict.usedUp);
      }),
      { numRuns: 5_000 },
    );
  });

  it('never sends again what buys work, unless it never left or was refused', () => {
    fc.assert(
      fc.property(fc.constantFrom(...buying), exchange, (purpose, happened) => {
        if (maySendAgain(purpose, happened).verdict !== 'again') return;
        const neverLeft = 'sent' in happened && happened.sent === 'no';
        const refused =
          'status' in happened &&
          (happened.status === 429 || (happened.status === 503 && happened.retryAfterMs !== undefined));
        expect(neverLeft || refused).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('never calls what buys work unpaid when it may have been taken', () => {
    fc.assert(
      fc.property(fc.constantFrom(...buying), exchange, (purpose, happened) => {
        const doubtful =
          'sent' in happened
            ? happened.sent === 'maybe'
            : happened.status >= 500 && happened.body === 'unreadable';
        if (!doubtful || ('retryAfterMs' in happened && happened.retryAfterMs !== undefined)) return;
        expect(maySendAgain(purpose, happened)).toEqual(ambiguous);
      }),
      { numRuns: 5_000 },
    );
  });

  it('is never in doubt about what is free', () => {
    fc.assert(
      fc.property(fc.constantFrom(...free), exchange, (purpose, happened) => {
        expect(maySendAgain(purpose, happened).verdict).not.toBe('ambiguous');
      }),
      { numRuns: 5_000 },
    );
  });
});
