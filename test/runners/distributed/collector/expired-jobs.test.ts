import { of } from 'rxjs';
import { expect, it } from 'vitest';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { hurriedClock } from '../../../support/hurried-clock.js';
import { openSharedRun } from '../../../support/shared-run.js';

it(
  'asks for an expired job at each start, buys nothing, and says nothing where it is still gone',
  { timeout: 180_000 },
  async () => {
    const run = await openSharedRun();
    try {
      // A young job is asked for during a minute, which takes 6 s by this clock.
      const scheduler = hurriedClock(10);
      let isGone = true;
      const got = createGotTransport();
      const transport: Transport = (request) =>
        isGone && request.url.includes('/status/')
          ? of({ status: 404, headers: {}, body: '{"error":"job not found"}' })
          : got(request);
      await run.work({ transport, scheduler });
      run.folder.manifest([{ id: 'a', endpoint: 'echo', input: {} }]);
      const collect = () => run.collect({ assumePriceUsd: 0.01, scheduler });
      const first = await collect();
      expect([first.exitCode, first.summary.failures, first.summary.cost.unknown]).toEqual([
        1,
        { expired: 1 },
        0.01,
      ]);
      const second = await collect();
      expect([second.exitCode, second.summary.failures, second.summary.cost.unknown]).toEqual([
        0,
        { expired: 1 },
        0.01,
      ]);
      isGone = false;
      const third = await collect();
      expect([third.exitCode, third.summary.failures, third.summary.cost]).toMatchObject([
        ...[0, {}, { estimated: 0.01, unknown: 0 }],
      ]);
      expect(run.emulator.bill()).toHaveLength(1);
      expect(run.folder.costs().map(({ source }) => source)).toEqual(['estimated']);
    } finally {
      await run.close();
    }
  },
);
