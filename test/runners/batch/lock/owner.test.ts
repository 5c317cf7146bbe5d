import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameHost } from '../../../../runners/batch/lock/owner.js';
import type { Host } from '../../../../runners/batch/lock/owner.js';

const some = fc.constantFrom('x', 'y', undefined);
const host: fc.Arbitrary<Host> = fc.record({
  name: fc.constantFrom('a', 'b'),
  bootId: some,
  machineId: some,
  inContainer: fc.boolean(),
});

describe('isSameHost', () => {
  it('never says so of two names, nor of two kernels one of which runs a container', () => {
    fc.assert(
      fc.property(host, host, (owner, here) => {
        const isSameKernel = owner.bootId !== undefined && owner.bootId === here.bootId;
        if (owner.name !== here.name) expect(isSameHost(owner, here)).toBe(false);
        if (!isSameKernel && (owner.inContainer || here.inContainer))
          expect(isSameHost(owner, here)).toBe(false);
        const isUnnamed = owner.machineId === undefined && (owner.bootId ?? here.bootId) !== undefined;
        if (!isSameKernel && isUnnamed) expect(isSameHost(owner, here)).toBe(false);
        if (!isSameKernel && owner.machineId !== here.machineId) expect(isSameHost(owner, here)).toBe(false);
      }),
    );
  });

  it('says so of a host and itself, unless a container tells no kernel', () => {
    fc.assert(
      fc.property(host, (here) => {
        expect(isSameHost(here, here)).toBe(here.bootId !== undefined || !here.inContainer);
      }),
    );
  });
});
