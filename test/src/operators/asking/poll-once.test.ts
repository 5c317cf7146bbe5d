import { describe, expect, it } from 'vitest';
import { pollOnce, type PollQuestion } from '../../../../src/operators/asking/poll-once.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import type { Transport } from '../../../../src/transport/transport.js';
import {
  inVirtualTime,
  replied,
  requestTo,
  virtualDesk,
  type Virtual,
} from '../../../support/virtual-time.js';

const request = requestTo('/v2/e/status/j', 'GET');
const question: PollQuestion = {
  key: 'k',
  jobId: 'j',
  request,
  backoff: { initialMs: 2, factor: 1, maxMs: 2 },
  onCall: () => undefined,
};
const replies = {
  p: replied(200, { id: 'j', status: 'IN_PROGRESS' }),
  f: replied(500, { status: 'FAILED', error: 'boom' }),
  o: replied(200, { id: 'other', status: 'COMPLETED', output: 1 }),
  h: replied(200, '<html>'),
  n: replied(404, { error: 'job not found' }),
  k: replied(401, { error: 'no such key' }),
  r: replied(302, ''),
};
const scripted = (cold: Virtual['cold'], ...marbles: string[]): Transport => {
  let at = 0;
  return () => cold(marbles[Math.min(at++, marbles.length - 1)]!, replies);
};
const w = { type: 'waiting', why: 'backoff', forMs: 2 };
const ended = (code: string, more: object) => ({
  type: 'ended',
  outcome: { status: 'failed', code, paid: 'maybe', jobId: 'j', ...more },
});

describe('pollOnce', () => {
  it('gives the reply of this job, also a failure under any status and without an id', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const once = (marbles: string) => pollOnce(question, virtualDesk(scheduler, scripted(cold, marbles)));
      const job = { id: 'j', status: 'IN_PROGRESS' };
      expectObservable(once('-p|')).toBe('-(p|)', { p: { type: 'replied', job } });
      const failed = { id: 'j', status: 'FAILED', error: 'boom' };
      expectObservable(once('-f|')).toBe('-(f|)', { f: { type: 'replied', job: failed } });
    });
  });

  it('asks again when the reply is about another job, cut or no JSON, and when the way breaks', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const desk = virtualDesk(scheduler, scripted(cold, 'o', 'h', '#', 'p'));
      const job = { id: 'j', status: 'IN_PROGRESS' };
      expectObservable(pollOnce(question, desk)).toBe('w-w-w-(p|)', { w, p: { type: 'replied', job } });
    });
  });

  it('gives up at once on a job that the service no longer knows', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const desk = virtualDesk(scheduler, scripted(cold, '-n|'));
      const message = 'GET /v2/e/status/j: HTTP 404: job not found';
      expectObservable(pollOnce(question, desk)).toBe('-(e|)', {
        e: ended('expired', { message, httpStatus: 404 }),
      });
    });
  });

  it('gives up on a refused key after a few tries, and at once on whom it does not trust', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const refused = virtualDesk(scheduler, scripted(cold, 'k'));
      const message = 'GET /v2/e/status/j: HTTP 401: no such key';
      expectObservable(pollOnce(question, refused)).toBe('w-w-w-(e|)', {
        w,
        e: ended('unauthorized', { message, httpStatus: 401 }),
      });
      const hiccup = virtualDesk(scheduler, scripted(cold, 'k', 'k', 'p'));
      const job = { id: 'j', status: 'IN_PROGRESS' };
      expectObservable(pollOnce(question, hiccup)).toBe('w-w-(p|)', { w, p: { type: 'replied', job } });
      const redirected = virtualDesk(scheduler, scripted(cold, '-r|'));
      expectObservable(pollOnce(question, redirected)).toBe('-(e|)', {
        e: ended('insecure', { message: expect.stringContaining('redirects'), httpStatus: 302 }),
      });
      const fault = new TransportError('tls', 'CERT_HAS_EXPIRED', 'no', false, 'the certificate has expired');
      const impostor = virtualDesk(scheduler, () => cold('-#', undefined, fault));
      expectObservable(pollOnce(question, impostor)).toBe('-(e|)', {
        e: ended('insecure', { message: 'the certificate has expired' }),
      });
    });
  });

  it('counts refused keys anew for each poll, and unsubscribes early', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const reply = cold('--p|', replies);
      expectObservable(
        pollOnce(
          question,
          virtualDesk(scheduler, () => reply),
        ),
        '^!',
      ).toBe('-');
      expectSubscriptions(reply.subscriptions).toBe('^!');
    });
  });
});
