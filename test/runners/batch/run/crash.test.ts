import { describe, expect, it } from 'vitest';
import { edit, job } from '../../../support/manifest-rows.js';
import { seeded } from '../../../support/seeded.js';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';

const rows = [edit('a'), job('b'), edit('c', { output_format: 'png' }), job('d'), edit('e', {}), job('f')];

function begin(crashAt: number | undefined, seed: () => number): PaperRun {
  const run = paperRun({ random: seed, ...(crashAt !== undefined && { crashAt }) });
  run.service.behave = (row) => (row === 'c' ? 'inline' : row === 'd' ? 'fail' : 'complete');
  run.manifest(rows);
  return run;
}

/** What must be true whatever died. */
function check(run: PaperRun, what: string): void {
  const results = run.lines('results.jsonl');
  const failures = run.lines('failures.jsonl');
  const ids = [...results, ...failures].map(({ id }) => id).sort();
  expect(ids, what).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  for (const [row, count] of run.service.executions) expect(count, `${what}: ${row}`).toBe(1);
  const unknown = new Set(
    failures.filter(({ error }) => (error as { code: string }).code === 'unknown').map(({ id }) => id),
  );
  const billed = [...run.service.bill]
    .filter(([row]) => !unknown.has(row))
    .reduce((sum, [, cost]) => sum + cost, 0);
  const reported = run
    .costs()
    .filter(({ source }) => source === 'reported')
    .reduce((sum, { cost }) => sum + Number(cost) * 1e6, 0);
  expect(Math.round(reported), what).toBe(billed);
}

const files = ['results.jsonl', 'failures.jsonl', 'costs.csv'];
const settings = { concurrency: 2 };

describe('a crash at every call of the disk', () => {
  it('loses no row and buys none twice [fault 15]', { timeout: 300_000 }, async () => {
    const whole = begin(undefined, () => 0.5);
    expect((await whole.start(settings)).exitCode).toBe(1);
    check(whole, 'no crash');
    const calls = whole.disk.calls;
    for (let crashAt = 1; crashAt <= calls; crashAt++) {
      const chance = (crashAt * 0.37) % 1;
      const run = begin(crashAt, () => chance);
      await run.start(settings);
      run.disk = run.disk.restart({ random: () => chance });
      const again = await run.start(settings);
      const what = `call ${crashAt}: ${again.reason}`;
      expect([0, 1, 6], what).toContain(again.exitCode);
      check(run, what);
      if (crashAt % 8 > 0) continue;
      const before = files.map((name) => run.text(name));
      await run.disk.unlink('/job/out/summary.json');
      expect([0, 6], what).toContain((await run.start(settings)).exitCode);
      expect(
        files.map((name) => run.text(name)),
        `${what}: written anew`,
      ).toEqual(before);
    }
  });

  it('also when the next start dies as well [fault 15]', { timeout: 300_000 }, async () => {
    const random = seeded(7);
    for (let round = 0; round < 120; round++) {
      const run = begin(1 + Math.floor(random() * 900), random);
      await run.start(settings);
      run.disk = run.disk.restart({ random, crashAt: 1 + Math.floor(random() * 400) });
      await run.start(settings);
      run.disk = run.disk.restart({ random });
      const last = await run.start(settings);
      expect([0, 1, 6], `round ${round}: ${last.reason}`).toContain(last.exitCode);
      check(run, `round ${round}`);
    }
  });
});
