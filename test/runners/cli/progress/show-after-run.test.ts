import { describe, expect, it } from 'vitest';
import { showAfterRun } from '../../../../runners/cli/progress/show-after-run.js';

function stream(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  const out = { isTTY, write, on: () => undefined, off: () => undefined };
  return { out, written };
}

describe('what is done after the last row of a large run', () => {
  it('is a line at the beginning and at each quarter where a log is written', () => {
    const { out, written } = stream(false);
    const after = showAfterRun(out, { quiet: false });
    for (let rows = 0; rows <= 100_000; rows += 1_000) after.written(rows, 100_000);
    after.keepsSnapshot();
    after.close();
    expect(written.join('')).toBe(
      [
        ...['0', '25,000', '50,000', '75,000'].map((rows) => `writing the report: ${rows} of 100,000 rows\n`),
        'keeping a snapshot of the journal for the next start\n',
      ].join(''),
    );
  });

  it('is one line of a terminal, that moves with each per cent and is taken away', () => {
    const { out, written } = stream(true);
    const after = showAfterRun(out, { quiet: false });
    for (let rows = 0; rows <= 10_000; rows += 10) after.written(rows, 10_000);
    after.close();
    expect(written).toHaveLength(101);
    expect(written[1]).toBe('\rwriting the report: 100 of 10,000 rows\u001b[K');
    expect(written.at(-1)).toBe('\r\u001b[K');
  });

  it('is nothing of a small run, and nothing when only what needs a person is printed', () => {
    const small = stream(true);
    showAfterRun(small.out, { quiet: false }).close();
    const quiet = stream(false);
    const after = showAfterRun(quiet.out, { quiet: true });
    after.written(0, 100_000);
    after.keepsSnapshot();
    after.close();
    expect([...small.written, ...quiet.written]).toEqual([]);
  });
});
