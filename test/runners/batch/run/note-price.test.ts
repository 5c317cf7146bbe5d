import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { notePrice } from '../../../../runners/batch/end/end-row.js';
import type { RunEvent } from '../../../../runners/batch/context/run-event.js';
import { Stops } from '../../../../runners/batch/stop/stops.js';
import { factsWith } from '../../../support/whole-values.js';

const row = factsWith({ kind: 'edit', endpoint: 'image-edit', resolution: '2k' });

function reported(maxDriftPercent: number | undefined, ...reported: number[]) {
  const events = new Subject<RunEvent>();
  const messages: string[] = [];
  events.subscribe((event) => {
    if (event.type === 'warning') messages.push(event.message);
  });
  const stops = new Stops();
  const run = { money: { prices: createPriceBook(), maxDriftPercent }, events, stops };
  for (const price of reported) notePrice(run, row, price);
  return { messages, cause: stops.end };
}

describe('notePrice', () => {
  it('says nothing of the price that the book has', () =>
    expect(reported(0, 130_000, 130_000)).toEqual({ messages: [], cause: undefined }));

  it('tells once of another one, with both figures', () => {
    const { messages, cause } = reported(undefined, 143_000, 143_000, 260_000);
    expect(messages).toEqual([
      'The service charges $0.143 for image-edit at 2k; $0.13 was expected. The higher price is reserved from now on.',
    ]);
    expect(cause).toBeUndefined();
  });

  it('stops where it is dearer than is allowed, and not where it is cheaper', () => {
    expect(reported(10, 143_000).cause).toBeUndefined();
    expect(reported(50, 100_000).cause).toBeUndefined();
    expect(reported(9, 143_000).cause).toMatchObject({
      exitCode: 3,
      reason: expect.stringContaining('10 % over the estimate'),
    });
    expect(reported(10, 131_000, 144_000).cause).toMatchObject({ exitCode: 3 });
  });
});
