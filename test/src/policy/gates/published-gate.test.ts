import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RequestKind } from '../../../../src/policy/gates/gate.js';
import { publishedGate } from '../../../../src/policy/gates/built-in-gates.js';
import { visit } from '../../../support/virtual-time.js';

describe('a gate of published limits', () => {
  it('has a rate for each kind of request', () => {
    const scheduler = new VirtualTimeScheduler();
    const gate = publishedGate(undefined, { scheduler });
    const passed: Record<RequestKind, number> = { submit: 0, poll: 0, cancel: 0, other: 0 };
    for (const kind of ['submit', 'poll', 'cancel'] as const)
      for (let n = 0; n < 5_000; n += 1)
        gate.admit(visit(kind)).subscribe({ complete: () => (passed[kind] += 1) });
    scheduler.maxFrames = 10_000;
    scheduler.flush();
    expect(passed.submit).toBeLessThanOrEqual(1_000);
    expect(passed.submit).toBeGreaterThan(950);
    expect(passed.poll).toBeLessThanOrEqual(2_000);
    expect(passed.poll).toBeGreaterThan(1_900);
    expect(passed.cancel).toBeLessThanOrEqual(100);
  });

  it('holds all kinds back when half of 20 answers are refusals', () => {
    const scheduler = new VirtualTimeScheduler();
    const gate = publishedGate(undefined, { scheduler });
    for (let n = 0; n < 10; n++) gate.observe({ ...visit(), status: 429, retryAfterMs: 1_000 });
    let passed = false;
    gate.admit(visit('poll')).subscribe({ complete: () => (passed = true) });
    expect(passed).toBe(false);
  });
});
