import { describe, expect, it } from 'vitest';
import { aheadText } from '../../../../runners/cli/messages/ahead-text.js';
import { aheadWith } from '../../../support/whole-values.js';

const nothing = aheadWith();
const costs = (rows: number, estimated: number, unpriced = 0) => ({
  fits: { rows, estimated },
  price: { estimated, unpriced },
});

describe('aheadText', () => {
  it('says what a first start does and costs', () => {
    expect(aheadText({ ...nothing, toSend: 12, ...costs(12, 1_395_000) }, false)).toEqual([
      '  this start   12 rows to send',
      '  may cost     $1.395',
    ]);
  });

  it('costs no more than what fits under the caps', () => {
    const ahead = {
      ...nothing,
      toSend: 12,
      ...costs(3, 300_000),
      price: { estimated: 1_395_000, unpriced: 0 },
    };
    expect(aheadText(ahead, false).at(-1)).toBe('  may cost     $0.30');
  });

  it('says before anything is bought that rows of earlier starts are not in the manifest', () => {
    expect(aheadText({ ...nothing, gone: 3 }, false)[0]).toBe(
      '  not in it    3 rows of earlier starts, kept',
    );
  });

  it('says what a later start takes up, and what it leaves', () => {
    const ahead = {
      ...nothing,
      rows: 970,
      toSend: 40,
      retried: 5,
      retriedUnknown: 3,
      reopened: 2,
      redone: 1,
      toPoll: 3,
      toDownload: 1,
      toHold: 6,
      unanswered: 3,
      heldPaid: 2,
      later: 7,
      invalid: 5,
      ended: 900,
    };
    expect(aheadText(ahead, false)[0]).toBe(
      '  this start   40 rows to send (2 failed before, 3 in doubt, which may charge twice, 2 reopened before, which may charge twice, 1 bought before), 3 to ask about, 1 picture to fetch, 5 left in flight by an earlier start, 7 in doubt, 2 paid before, and left, 5 invalid, 7 left for later, 900 ended before',
    );
  });

  it('says that a rehearsal buys nothing', () => {
    expect(aheadText({ ...nothing, toSend: 1, ...costs(1, 87_500, 1) }, true)[1]).toBe(
      '  price        rehearsal, nothing spent; a real run: $0.0875 and 1 row of no known price',
    );
  });
});
