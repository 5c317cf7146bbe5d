import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../../src/transport/transport.js';
import { intentRecord } from '../../../../runners/batch/row/records-of.js';
import { rowsOf } from '../../../support/run-database.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** Answers 404 about each job this often. */
function forgetting(times: number, body: string) {
  const transport = createGotTransport();
  const asked = new Map<string, number>();
  const forgetful: Transport = (request) => {
    const id = /\/status\/(.+)$/.exec(request.url)?.[1];
    if (id === undefined) return transport(request);
    asked.set(id, (asked.get(id) ?? 0) + 1);
    return (asked.get(id) ?? 0) > times ? transport(request) : of({ status: 404, headers: {}, body });
  };
  return { forgetful, asked };
}

const json404 = '{"error":"job not found"}';

describe('404 about a job that a worker asks for [fault 8]', () => {
  it.each([
    ['of a young one', json404],
    ['as a page of a proxy', '<h1>404</h1>'],
  ])('%s: it is asked again, and completes', async (_, body) => {
    const { forgetful, asked } = forgetting(3, body);
    const fleet = await fleets.open(rowsOf(1));
    await fleet.start({ transport: forgetful });
    const [row] = await fleet.ended();
    expect(row?.outcome).toMatchObject({ status: 'completed', statusCalls: 4 });
    expect([...asked.values()]).toEqual([4]);
  });

  it('of an older one: it is asked twice, then the row is expired', async () => {
    const { forgetful, asked } = forgetting(99, json404);
    const [task] = rowsOf(1);
    if (task === undefined) throw new Error('no row');
    const submittedAt = Date.now() - 3_600_000;
    const intent = intentRecord(task.row, { at: submittedAt, attempt: 1, price: 100_000 });
    const poll = {
      what: 'poll',
      row: task.row,
      jobId: 'forgotten',
      intent,
      submittedAt,
      attempts: 1,
    } as const;
    const fleet = await fleets.open([poll], { terms: { timeoutMs: 3_600_000 } });
    const worker = await fleet.start({ transport: forgetful });
    const [row] = await fleet.ended();
    expect(row?.outcome).toMatchObject({
      status: 'failed',
      cost: 100_000,
      source: 'unknown',
      statusCalls: 2,
      jobId: 'forgotten',
      error: { code: 'expired', paid: 'maybe', httpStatus: 404 },
    });
    expect([...asked.values()]).toEqual([2]);
    expect(await fleet.state()).toMatchObject({ spent: 0, unknown: 100_000, reserved: 0 });
    expect(worker.events.filter(({ type }) => type === 'fault')).toEqual([]);
  });
});
