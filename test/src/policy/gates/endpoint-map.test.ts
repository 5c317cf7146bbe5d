import { describe, expect, it } from 'vitest';
import { EndpointMap } from '../../../../src/policy/gates/endpoint-map.js';

const at = (endpointId: string, host = 'a.test') => ({ endpointId, host });

describe('a map of endpoints', () => {
  it('keeps hosts and endpoints apart, and finds each again', () => {
    const map = new EndpointMap(
      () => ({}),
      () => false,
    );
    const one = map.of(at('one'));
    expect(map.of(at('two'))).not.toBe(one);
    expect(map.of(at('one', 'b.test'))).not.toBe(one);
    expect(map.of(at('one'))).toBe(one);
    expect(map.size).toBe(3);
  });

  it('forgets what is idle, and nothing that is at work', () => {
    const map = new EndpointMap(
      () => ({ isIdle: true }),
      ({ isIdle }) => isIdle,
    );
    const busy = Array.from({ length: 10 }, (_, n) => map.of(at(`busy-${n}`)));
    for (const each of busy) each.isIdle = false;
    for (let n = 0; n < 100_000; n++) map.of(at(`endpoint-${n}`, `host-${n % 7}.test`));
    expect(map.size).toBeLessThan(100);
    busy.forEach((each, n) => expect(map.of(at(`busy-${n}`))).toBe(each));
  });
});
