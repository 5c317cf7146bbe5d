import { beforeAll, describe, expect, it } from 'vitest';
import { compare, type Verdict } from '../../samples/compare/compare.mjs';
import { table } from '../../samples/compare/table.mjs';

describe('the comparison', () => {
  let verdicts: Verdict[];
  const of = (name: string) => verdicts.find((verdict) => verdict.name === name)!;
  beforeAll(async () => {
    verdicts = await compare({ edits: 32, seed: 7 });
  }, 120_000);

  it.each(['millrace', 'millrace --mode async'])('%s pays nothing twice and loses nothing', (name) => {
    const { rows, bought, pictures, named, paidTwice, lost, withoutOutcome, exitCode } = of(name);
    expect({ paidTwice, lost, withoutOutcome }).toEqual({ paidTwice: 0, lost: 0, withoutOutcome: 0 });
    expect(pictures + named).toBe(rows);
    expect(bought).toBeLessThanOrEqual(rows);
    expect(exitCode).toBe(named > 0 ? 6 : 0);
  });

  it.each(['millrace', 'millrace --mode async'])('the books of %s are those of the service', (name) => {
    const { rows, bought, billUsd, knownUsd, heldUsd } = of(name);
    // Each row is bought, or held and never got there.
    expect(knownUsd + heldUsd).toBeCloseTo(billUsd + (rows - bought) * 0.0875, 6);
  });

  it.each(['a p-limit script', 'runpod-sdk'])('%s pays again for what was under way', (name) => {
    const { paidTwice, billUsd, knownUsd, heldUsd } = of(name);
    expect(paidTwice).toBeGreaterThan(0);
    expect(billUsd).toBeGreaterThan(knownUsd + heldUsd);
  });

  it('shows them side by side', () => {
    const lines = table(verdicts).split('\n');
    const heads = lines[0]?.split('|').map((cell) => cell.trim());
    expect(heads).toEqual([
      '',
      '',
      'a p-limit script',
      'runpod-sdk',
      'millrace',
      'millrace --mode async',
      '',
    ]);
    expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
    expect(lines.every((line) => line.split('|').length === 7)).toBe(true);
  });
});
