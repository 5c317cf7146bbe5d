import { afterEach, describe, expect, it } from 'vitest';
import { rowsOf } from '../../../support/run-database.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** The database refuses every row whose answer holds this text. */
async function refuse(text: string): Promise<void> {
  await fleets.database.pool.query(
    `alter table millrace.rows add constraint refused check (coalesce(ending::text, '') || coalesce(job_id::text, '') not like '%${text}%') not valid`,
  );
}

afterEach(async () => {
  await fleets.database.pool.query('alter table millrace.rows drop constraint if exists refused');
});

describe('an answer that the database refuses', () => {
  it.each([
    ['with its text', 'x'.repeat(30_000), /cannot be written as JSON: .*refused.*It begins: .*xxx/],
    ['without its text', 'poison', /^\(this value cannot be written as JSON: [^)]*refused[^)]*\)$/],
  ])('is kept as paid, %s, and the run goes on', async (_, text, output) => {
    await refuse(text.length > 2_000 ? 'x'.repeat(2_100) : text);
    const rows = rowsOf(3).map((row, n) => {
      const request = { kind: 'job', input: { n, ...(n === 1 && { text }) } } as const;
      return { ...row, facts: { ...row.facts, request } };
    });
    const fleet = await fleets.open(rows);
    const worker = await fleet.start();
    const ended = await fleet.ended();
    expect(ended.map(({ ending }) => ending.outcome?.status)).toEqual(Array(3).fill('completed'));
    const { reply } = ended.find(({ id }) => id === 'r2')?.ending ?? {};
    expect(reply?.output).toMatch(output);
    expect(String(reply?.output).length).toBeLessThanOrEqual(2_000);
    expect(await fleet.state()).toMatchObject({ spent: 300_000, reserved: 0, unknown: 0, inFlight: 0 });
    expect(worker.events.filter(({ type }) => type === 'fault')).toHaveLength(1);
    expect(fleet.emulator.bill()).toHaveLength(3);
  });

  it('ends as unknown where not even its job id can be written', async () => {
    const fleet = await fleets.open(rowsOf(2));
    await refuse('-');
    const worker = await fleet.start();
    const ended = await fleet.ended();
    expect(ended).toHaveLength(2);
    for (const { ending } of ended)
      expect(ending.outcome).toMatchObject({ status: 'failed', error: { code: 'unknown', paid: 'maybe' } });
    expect(await fleet.state()).toMatchObject({ spent: 0, reserved: 0, unknown: 200_000, inFlight: 0 });
    await worker.stop();
    expect(fleet.emulator.bill()).toHaveLength(2);
  });
});
