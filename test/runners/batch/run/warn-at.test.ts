import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CapWatch } from '../../../../runners/batch/ledger/cap-watch.js';
import { createLedger } from '../../../../runners/batch/ledger/ledger.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun, type PaperEnd, type PaperRun } from '../../../support/paper-run.js';

const rows = [
  ...['a1', 'a2', 'a3', 'a4'].map((id) => ({ ...edit(id), customer: 'acme' })),
  ...['b1', 'b2'].map((id) => ({ ...edit(id), customer: 'beta' })),
];

function begun(): PaperRun {
  const run = paperRun();
  run.manifest(rows);
  return run;
}

const warned = ({ events }: PaperEnd): string[] =>
  events.flatMap((event) => (event.type === 'warning' && event.code === 'warn-at' ? [event.message] : []));
const ofRun = '$0.4375 of the $0.525 of --max-cost are spent, reserved or in doubt (--warn-at 80%).';

describe('warnAt', () => {
  it('says once that so much of the cap is taken, and stands in run.log', async () => {
    const run = begun();
    const end = await run.start({ maxCostUsd: 0.525, warnAt: { percent: 80 } });
    expect(warned(end)).toEqual([ofRun]);
    const logged = run.lines('run.log').filter(({ msg }) => msg === ofRun);
    expect(logged.map(({ level }) => level)).toEqual(['warn']);
  });

  it('says nothing again at a later start, and nothing below the mark', async () => {
    const run = begun();
    const options = { maxCostUsd: 0.525, warnAt: { percent: 80 } };
    expect(warned(await run.start({ ...options, limit: 4 }))).toEqual([]);
    expect(warned(await run.start({ warnAt: options.warnAt, limit: 1 }))).toEqual([ofRun]);
    expect(warned(await run.start({ warnAt: options.warnAt }))).toEqual([]);
  });

  it('speaks of each value that has a cap, by its own money over all starts', async () => {
    const run = begun();
    const options = {
      maxCostByUsd: { customer: 0.35 },
      warnAt: { usd: 0.26 },
      concurrency: 1,
    };
    const first = await run.start({ ...options, limit: 2 });
    expect(warned(first)).toEqual([]);
    const acme =
      '$0.2625 of the $0.35 of --max-cost-by customer "acme" are spent, reserved or in doubt (--warn-at $0.26).';
    expect(warned(await run.start({ ...options, limit: 1 }))).toEqual([acme]);
    expect(warned(await run.start(options))).toEqual([]);
  });

  it('is refused where no cap holds, and where no cap is as high', async () => {
    const run = begun();
    const bare = await run.start({ warnAt: { percent: 80 } }).catch((error: unknown) => error);
    expect(bare).toMatchObject({
      exitCode: 2,
      reason: expect.stringMatching(/^--warn-at has no cap to warn of: add --max-cost USD/) as string,
    });
    const high = await run.start({ maxCostUsd: 1, warnAt: { usd: 2 } });
    expect([high.exitCode, high.reason]).toEqual([
      2,
      '--warn-at $2.00 is never reached: the highest cap is $1.00; give a lower amount, or a share such as 80%; nothing was sent',
    ]);
  });
});

it('each cap is warned of once, and only where the mark was not reached before, whatever is bought', () => {
  const purchase = fc.record({
    value: fc.constantFrom('a', 'b', ''),
    price: fc.integer({ min: 0, max: 300 }),
  });
  fc.assert(
    fc.property(
      fc.array(purchase, { maxLength: 12 }),
      fc.array(purchase, { maxLength: 30 }),
      fc.integer({ min: 1, max: 100 }),
      (earlier, later, percent) => {
        const caps = { run: 2_000, value: 900 };
        const sum = (of: typeof earlier, value?: string): number =>
          of.reduce((total, one) => total + (value === undefined || one.value === value ? one.price : 0), 0);
        const before = new Map(['a', 'b', ''].map((value) => [value, sum(earlier, value)]));
        const byValue = {
          capsUsd: { who: caps.value / 1e6 },
          taken: new Map([['who', before]]),
        };
        const ledger = createLedger({
          capUsd: caps.run / 1e6,
          spent: sum(earlier),
          byValue,
        });
        const texts: string[] = [];
        const watch = new CapWatch({
          warnAt: { percent },
          ledger,
          byValue,
          warn: (text) => texts.push(text),
        });
        const bought: typeof earlier = [];
        for (const [n, one] of later.entries()) {
          const row = { kind: null, endpoint: 'e', cells: { who: one.value } };
          if (!ledger.reserve(`r${n}`, one.price, row)) continue;
          bought.push(one);
          watch.look(row);
          if (n % 2 === 0) ledger.settle(`r${n}`, one.price);
        }
        const isCrossed = (cap: number, value?: string): boolean =>
          sum(earlier, value) * 100 < cap * percent &&
          (sum(earlier, value) + sum(bought, value)) * 100 >= cap * percent;
        const timesOf = (name: string): number =>
          texts.filter((text) => text.includes(` of ${name} are `)).length;
        expect(timesOf('--max-cost')).toBe(isCrossed(caps.run) ? 1 : 0);
        for (const value of ['a', 'b', ''])
          expect(timesOf(`--max-cost-by who ${value === '' ? '(none)' : JSON.stringify(value)}`)).toBe(
            isCrossed(caps.value, value) ? 1 : 0,
          );
      },
    ),
  );
});
