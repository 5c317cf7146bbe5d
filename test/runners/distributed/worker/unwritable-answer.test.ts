import { afterEach, describe, expect, it } from 'vitest';
import { rowsOf } from '../../../support/run-database.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** The database refuses every row whose answer holds this text. */
async function refuse(text: string): Promise<void> {
  await fleets.database.pool.query(
    `alter table millrace.records add constraint refused check (record not like '%${text}%' or record like '{"k":"intent%') not valid`,
  );
}

afterEach(async () => {
  await fleets.database.pool.query('alter table millrace.records drop constraint if exists refused');
});

describe('an answer that the database refuses', () => {
  it.each([
    ['a long one', 'x'.repeat(30_000), /^\(this value cannot be written as JSON: [^)]*refused[^)]*\)$/],
    ['a short one', 'poison', /^\(this value cannot be written as JSON: [^)]*refused[^)]*\)$/],
  ])('is kept as paid, with the reason, and the run goes on: %s', async (_, text, output) => {
    await refuse(text.length > 2_000 ? 'x'.repeat(2_100) : text);
    const rows = rowsOf(3).map((row, n) => {
      const request = { kind: 'job', input: { n, ...(n === 1 && { text }) } } as const;
      return { ...row, row: { ...row.row, request } };
    });
    const fleet = await fleets.open(rows);
    const worker = await fleet.start();
    const ended = await fleet.ended();
    expect(ended.map(({ code }) => code)).toEqual(Array(3).fill('completed'));
    const { reply } = ended.find(({ id }) => id === 'r2') ?? {};
    expect(reply?.output).toMatch(output);
    expect(String(reply?.output).length).toBeLessThanOrEqual(2_000);
    expect(await fleet.state()).toMatchObject({ spent: 300_000, reserved: 0, unknown: 0, inFlight: 0 });
    expect(worker.events.filter(({ type }) => type === 'fault')).toHaveLength(0);
    expect(fleet.emulator.bill()).toHaveLength(3);
  });

  it('ends as unknown where not even its job id can be written: the worker stops, and others go on', async () => {
    const fleet = await fleets.open(rowsOf(1));
    await refuse('"k":"accepted"');
    const worker = await fleet.start();
    expect(await worker.ended).toBe(70);
    expect((await fleet.rows()).map(({ code }) => code)).toEqual(['unknown']);
    expect(await fleet.state()).toMatchObject({ spent: 0, reserved: 0, unknown: 100_000, inFlight: 0 });
    expect(fleet.emulator.bill()).toHaveLength(1);
  });
});
