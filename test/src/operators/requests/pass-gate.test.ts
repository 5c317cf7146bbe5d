import { EMPTY } from 'rxjs';
import { describe, it } from 'vitest';
import { passGate } from '../../../../src/operators/requests/exchange.js';
import type { Gate } from '../../../../src/policy/gates/gate.js';
import { inVirtualTime, virtualContext, type Virtual } from '../../../support/virtual-time.js';

const passing = ({ scheduler }: Virtual, gate: Partial<Gate>) =>
  passGate(
    virtualContext(scheduler, () => EMPTY, { gate: { observe: () => undefined, ...gate } as Gate }),
    'submit',
    'k',
  );
const wait = { w: { why: 'gate', forMs: 3 } };
const waiting = { type: 'waiting', why: 'gate', forMs: 3 };

describe('passGate', () => {
  it('emits waits, and completes when the request may be sent', () => {
    inVirtualTime((virtual) => {
      const admit = () => virtual.cold('w--|', wait) as never;
      virtual.expectObservable(passing(virtual, { admit })).toBe('w--|', { w: waiting });
      virtual.expectObservable(passing(virtual, { admit: () => EMPTY })).toBe('|');
      virtual.expectObservable(passing(virtual, { admit, tryPass: () => true })).toBe('|');
      virtual
        .expectObservable(passing(virtual, { admit, tryPass: () => false }))
        .toBe('w--|', { w: waiting });
    });
  });

  it('gives the place back', () => {
    inVirtualTime((virtual) => {
      const admission = virtual.cold('w---', wait);
      virtual
        .expectObservable(passing(virtual, { admit: () => admission as never }), '^--!')
        .toBe('w--', { w: waiting });
      virtual.expectSubscriptions(admission.subscriptions).toBe('^--!');
    });
  });

  it('passes on errors of the gate', () => {
    inVirtualTime((virtual) => {
      const admit = () => virtual.cold('-#') as never;
      virtual.expectObservable(passing(virtual, { admit })).toBe('-#');
    });
  });
});
