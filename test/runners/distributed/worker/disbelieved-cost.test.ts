import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { rowsOf } from '../../../support/run-database.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** Every job that completes reports this cost, as it stands in JSON. */
function reporting(cost: string): Transport {
  const transport = createGotTransport();
  return (request) =>
    transport(request).pipe(
      map((reply) => ({ ...reply, body: reply.body.replace('"output":{', `"output":{"cost":${cost},`) })),
    );
}

describe('a cost that is not believed, reported to a worker', () => {
  it.each(['2000000', '101', '-1', '"0.1"'])(
    '%s: the estimate is booked, and the run stops',
    async (cost) => {
      const fleet = await fleets.open(rowsOf(30), { terms: { cap: 5_000_000, concurrency: 1 } });
      const worker = await fleet.start({ transport: reporting(cost) });
      const [row] = await fleet.ended();
      const { stop, spent, unknown, reserved } = await fleet.state();
      const ended = (await fleet.rows()).filter(({ code }) => code === 'completed').length;
      expect(stop).toMatchObject({
        exitCode: 3,
        reason: expect.stringMatching(new RegExp(`cost of ${cost} for row "r\\d+"`)),
      });
      expect({ spent, unknown, reserved }).toStrictEqual({ spent: 100_000 * ended, unknown: 0, reserved: 0 });
      expect(ended).toBeLessThanOrEqual(2);
      expect(row?.reply).toMatchObject({ cost: 100_000, source: 'estimated', disbelieved: cost });
      expect(worker.events.filter(({ type }) => type === 'fault')).toStrictEqual([]);
    },
  );
});
