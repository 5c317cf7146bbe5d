import { describe, expect, it } from 'vitest';
import { paperRun } from '../../../support/paper-run.js';

const jobs = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `j${first + n}`,
    endpoint: 'echo',
    input: { row: first + n },
  }));
const path = '/job/out/poll-law.json';
/** The file keeps the name that its first version gave it. */
type Kept = Record<'laws', Record<string, { runTimesMs: number[] }>>;
const withLearning = { schedule: undefined };

describe('the law of run times of a run', () => {
  it('is kept by endpoint for the next start', async () => {
    const run = paperRun();
    run.manifest(jobs(0, 6));
    expect((await run.start(withLearning)).exitCode).toBe(0);
    const kept = JSON.parse(run.text('poll-law.json')) as Kept;
    expect(kept.laws['echo']?.runTimesMs).toHaveLength(6);
  });

  it('goes on where the last start ended', async () => {
    const run = paperRun();
    run.disk.plant(
      path,
      JSON.stringify({ version: 1, laws: { echo: { runTimesMs: [5, 6] }, x: { runTimesMs: [9] } } }),
    );
    run.manifest(jobs(0, 3));
    expect((await run.start(withLearning)).exitCode).toBe(0);
    const kept = JSON.parse(run.text('poll-law.json')) as Kept;
    expect(kept.laws['echo']?.runTimesMs).toHaveLength(5);
    expect(kept.laws['x']).toEqual({ runTimesMs: [9] });
  });

  it('is learned anew, with a warning, where the file is damaged', async () => {
    for (const damage of [
      '{"version":1,"laws":',
      '{"version":1,"laws":{"echo":{"runTimesMs":["x"]}}}',
      '[]',
    ]) {
      const run = paperRun();
      run.disk.plant(path, damage);
      run.manifest(jobs(0, 3));
      const { exitCode, events } = await run.start(withLearning);
      expect(exitCode).toBe(0);
      expect(events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'poll-law' }));
      expect(() => JSON.parse(run.text('poll-law.json')) as unknown).not.toThrow();
    }
  });

  it('is not touched by a run with a schedule of its own', async () => {
    const run = paperRun();
    run.manifest(jobs(0, 3));
    expect((await run.start()).exitCode).toBe(0);
    expect(run.text('poll-law.json')).toBe('');
  });
});
