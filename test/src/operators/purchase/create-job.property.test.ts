import { fc, test } from '@fast-check/vitest';
import { defer, of, throwError, timer, map, mergeMap } from 'rxjs';
import { describe, expect } from 'vitest';
import type { JobEvent, CheckpointEvent } from '../../../../src/contract/outcome.js';
import { createJob } from '../../../../src/operators/purchase/create-job.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import type { Transport, WireReply } from '../../../../src/transport/transport.js';
import { virtualSpec } from '../../../support/virtual-spec.js';
import { inVirtualTime, replied, virtualContext } from '../../../support/virtual-time.js';

const fault = (sent: 'no' | 'maybe') =>
  new TransportError(sent === 'no' ? 'connect' : 'reset', undefined, sent, false, 'x');
const job = (status: string) => replied(200, { id: 'j', status, output: 1 });

/** Replies to a POST that prove that nothing was bought, and those that do not. */
const refusals: (WireReply | TransportError)[] = [
  replied(429, 'slow'),
  replied(503, 'x', { 'retry-after': '0' }),
  fault('no'),
];
const unknowns: (WireReply | TransportError)[] = [
  ...['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'SOMETHING'].map(job),
  ...[400, 401, 404, 409, 418, 500, 502, 503, 504].map((status) => replied(status, 'x')),
  ...[replied(200, '<html>'), replied(200, ''), replied(200, '{"id":7}'), replied(302, ''), fault('maybe')],
];
const polls: (WireReply | TransportError)[] = [
  ...['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'SOMETHING'].map(job),
  ...[
    replied(404, 'gone'),
    replied(401, 'x'),
    replied(500, 'x'),
    replied(200, '{"id":"other","status":"COMPLETED"}'),
    fault('maybe'),
  ],
];

const delay = fc.nat(12);
const answer = (from: (WireReply | TransportError)[]) =>
  fc.record({ afterMs: delay, what: fc.constantFrom(...from) });
const story = fc.record({
  refused: fc.array(answer(refusals), { maxLength: 4 }),
  final: answer(unknowns),
  polls: fc.array(answer(polls), { minLength: 1, maxLength: 5 }),
  visits: fc.array(fc.record({ at: fc.nat(60), forMs: fc.nat(40) }), { maxLength: 5 }),
  cancelAt: fc.option(fc.nat(80)),
  onUnsubscribe: fc.constantFrom('detach', 'cancel'),
  markMs: fc.nat(5),
  deadlineMs: fc.constantFrom(15, 10_000),
});

describe('a purchase, whoever comes, leaves and cancels when', () => {
  test.prop([story], { numRuns: 600 })(
    'never sends a POST after one that may have been accepted',
    (reported) => {
      const log: string[] = [];
      const seen: JobEvent<unknown>[] = [];
      let completed = false;
      inVirtualTime(({ scheduler }) => {
        const posts = [...reported.refused, reported.final];
        const asked = [...reported.polls];
        const transport: Transport = ({ url }) => {
          const kind = /\/(run|status|cancel)\b/.exec(url)![1]!;
          log.push(kind);
          const { afterMs, what } =
            kind === 'run'
              ? posts.shift()!
              : kind === 'status'
                ? (asked.shift() ?? last)
                : { afterMs: 1, what: job('CANCELLED') };
          return timer(afterMs, scheduler).pipe(
            mergeMap(() => (what instanceof TransportError ? throwError(() => what) : of(what))),
          );
        };
        const last = { afterMs: 1, what: job('COMPLETED') };
        const checkpoint = (event: CheckpointEvent<unknown>) =>
          defer(() => {
            log.push(`(${event.type}`);
            return timer(reported.markMs, scheduler).pipe(map(() => log.push(`${event.type})`)));
          });
        const base = virtualSpec({ scheduler }).spec;
        const options = {
          ...base.options,
          onUnsubscribe: reported.onUnsubscribe,
          deadlineMs: reported.deadlineMs,
        };
        const purchase = createJob({ ...base, checkpoint, options }, virtualContext(scheduler, transport));
        for (const { at, forMs } of reported.visits)
          scheduler.schedule(() => {
            const visit = purchase.subscribe();
            scheduler.schedule(() => visit.unsubscribe(), forMs);
          }, at);
        if (reported.cancelAt !== null) scheduler.schedule(() => void purchase.cancel(), reported.cancelAt);
        scheduler.schedule(() => {
          purchase.subscribe({ next: (event) => seen.push(event), complete: () => (completed = true) });
        }, 100);
      });
      const sent = log.filter((entry) => entry === 'run').length;
      expect(sent).toBeLessThanOrEqual(reported.refused.length + 1);
      expect(log.filter((entry) => entry === 'cancel').length).toBeLessThanOrEqual(1);
      expect(completed).toBe(true);
      expect(seen.filter(({ type }) => type === 'settled')).toHaveLength(1);
      expect(seen.at(-1)).toMatchObject({ type: 'settled' });
      const checkpoints = log.filter((entry) => entry.endsWith(')')).join(' ');
      expect(checkpoints).toMatch(/^(intent\) refused\) )*(intent\) (accepted\) )?)?settled\)$/);
      const steps = log.filter((entry) => entry !== 'cancel').join(' ');
      expect(steps).not.toMatch(/\(intent (?!intent\))|\(accepted (?!accepted\))|run (?!\()/);
    },
  );
});
