import { describe, it } from 'vitest';
import { throughGate } from '../../../../src/operators/requests/through-gate.js';
import type { Gate } from '../../../../src/policy/gates/gate.js';
import { inVirtualTime, visit, type Virtual } from '../../../support/virtual-time.js';

const gateOf = (admission: ReturnType<Virtual['cold']>) =>
  ({ admit: () => admission, observe: () => undefined }) as unknown as Gate;
const request = visit();
const wait = { w: { why: 'gate', forMs: 3 } };
const waiting = { type: 'waiting', why: 'gate', forMs: 3 };

describe('throughGate', () => {
  it('tells of waits, then goes on', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const then = cold('   -r|');
      expectObservable(throughGate(gateOf(cold('w--|', wait)), request, () => then)).toBe('w---r|', {
        w: waiting,
        r: 'r',
      });
      expectSubscriptions(then.subscriptions).toBe('---^-!');
      expectObservable(throughGate(gateOf(cold('|')), request, () => cold('(r|)'))).toBe('(r|)');
    });
  });

  it('sends nothing while the gate holds, and gives the place back', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const admission = cold('w---', wait);
      const then = cold('r|');
      expectObservable(
        throughGate(gateOf(admission), request, () => then),
        '^--!',
      ).toBe('w--', { w: waiting });
      expectSubscriptions(admission.subscriptions).toBe('^--!');
      expectSubscriptions(then.subscriptions).toBe([]);
    });
  });

  it('passes on errors of the gate, of what follows, and what its function throws', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      expectObservable(throughGate(gateOf(cold('-#')), request, () => cold('r|'))).toBe('-#');
      expectObservable(throughGate(gateOf(cold('|')), request, () => cold('-#'))).toBe('-#');
      const broken = (): never => {
        throw new Error('broken');
      };
      expectObservable(throughGate(gateOf(cold('-|')), request, broken)).toBe(
        '-#',
        undefined,
        new Error('broken'),
      );
    });
  });
});
