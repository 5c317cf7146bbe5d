import { of } from 'rxjs';
import { expect, it } from 'vitest';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { openSharedRun } from '../../../support/shared-run.js';

it('asks for an expired job at each start, buys nothing, and says nothing where it is still gone', async () => {
  const run = await openSharedRun();
  try {
    const own = await connectDatabase({ url: run.url });
    await own.pool.query(`create function an_hour_ago() returns trigger as $$ begin
      new.submitted_at := now() - interval '1 hour'; return new; end $$ language plpgsql`);
    await own.pool.query(`create trigger an_hour_ago before update on millrace.rows for each row
      when (new.state = 'accepted') execute function an_hour_ago()`);
    await own.close();
    let isGone = true;
    const got = createGotTransport();
    const transport: Transport = (request) =>
      isGone && request.url.includes('/status/')
        ? of({ status: 404, headers: {}, body: '{"error":"job not found"}' })
        : got(request);
    await run.work({ transport });
    run.folder.manifest([{ id: 'a', endpoint: 'echo', input: {} }]);
    const collect = () => run.collect({ assumePriceUsd: 0.01 });
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
});
