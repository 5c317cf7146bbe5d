import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeRecord } from '../../../../runners/batch/journal/line/record-line.js';
import { HeadScanner } from '../../../../runners/batch/journal/line/head-scanner.js';
import type { CostSource, JournalRecord, RecordOf } from '../../../../runners/batch/journal/record.js';
import { Recovery } from '../../../../runners/batch/journal/recovery.js';
import type { RowStatus } from '../../../../runners/batch/row/row-status.js';
import {
  accepted,
  completed,
  failed,
  identity,
  intent,
  refused,
  reopen,
  reply,
  start,
  stop,
} from '../../../support/sample-records.js';

function recovered(...records: JournalRecord[]): Recovery {
  const recovery = new Recovery();
  const head = new HeadScanner();
  let offset = 0;
  for (const record of records) {
    const line = encodeRecord(recovery.facts.records + 1, record).subarray(0, -1);
    expect(head.scan(line, 0, line.length)).toBe(true);
    recovery.take(head, offset);
    offset += line.length + 1;
  }
  recovery.finish();
  return recovery;
}

function statusAfter(...records: JournalRecord[]): RowStatus | undefined {
  return recovered(...records).rows.get('a')?.status;
}

describe('Recovery, the state of a row', () => {
  const sent = intent('a');
  it.each<[RowStatus, JournalRecord[]]>([
    ['sent', [sent]],
    ['open', [sent, refused('a')]],
    ['sent', [sent, refused('a'), intent('a', { attempt: 2 })]],
    ['accepted', [sent, accepted('a')]],
    ['accepted', [sent, accepted('a'), refused('a')]],
    ['replied', [sent, accepted('a'), reply('a')]],
    ['replied', [sent, reply('a')]],
    ['completed', [sent, accepted('a'), reply('a'), completed('a')]],
    ['unknown', [sent, failed('a', 'unknown')]],
    ['invalid-row', [failed('a', 'invalid-row')]],
    ['accepted', [sent, accepted('a'), failed('a', 'deadline'), reopen('a', 'poll')]],
    ['replied', [sent, reply('a'), failed('a', 'download'), reopen('a', 'download')]],
    ['open', [sent, failed('a', 'unknown'), reopen('a', 'buy')]],
    ['sent', [sent, failed('a', 'unknown'), reopen('a', 'buy'), intent('a', { attempt: 2 })]],
    ['accepted', [intent('a', { price: 0, takes: 'job', jobId: 'j' })]],
    ['replied', [intent('a', { price: 0, takes: 'picture' })]],
    [
      'sent',
      [
        intent('a', { price: 0 }),
        accepted('a'),
        failed('a', 'job-failed'),
        intent('a', { price: 0, attempt: 2 }),
      ],
    ],
  ])('is %s after %j', (status, records) => expect(statusAfter(start(), ...records)).toBe(status));

  it.each([0, 1, 2, 65_534, 65_535, 70_000])('counts %i attempts, up to what two bytes hold', (attempt) => {
    const { rows } = recovered(
      intent('a', { attempt, takes: 'job', jobId: 'j' }),
      failed('b', 'invalid-row'),
    );
    expect(rows.get('a')?.attempts).toBe(Math.min(attempt, 65_535));
    expect(rows.get('b')?.attempts).toBe(0);
  });

  it('counts attempts and compares contents', () => {
    const { rows } = recovered(
      intent('a', { hash: 'aaaaaaaa' }),
      refused('a'),
      intent('a', { attempt: 2, hash: 'bbbbbbbb' }),
    );
    expect(rows.get('a')?.attempts).toBe(2);
    expect(rows.get('a')?.sameContent('bbbbbbbb')).toBe(true);
    expect(rows.get('a')?.sameContent('aaaaaaaa')).toBe(false);
  });
});

describe('Recovery, the run', () => {
  it('knows its starts, the latest identity and the last stop', () => {
    const other = { ...identity, local: true };
    const first = recovered(start({ at: 10 }), stop(3, 20));
    expect(first.facts).toMatchObject({
      starts: 1,
      firstStartAt: 10,
      lastStartAt: 10,
      lastStop: { at: 20, exitCode: 3 },
    });
    expect(recovered(intent('a', { row: 17 }), intent('b', { row: 16 })).lives.lastRow).toBe(17);
    const second = recovered(
      start({ at: 10 }),
      stop(3, 20),
      start({ at: 30, identity: other }),
      intent('a', { row: 17 }),
    );
    expect(second.facts).toMatchObject({
      starts: 2,
      firstStartAt: 10,
      lastStartAt: 30,
      identity: other,
      records: 4,
    });
    expect(second.facts.lastStop).toBeUndefined();
  });

  it('refuses words that a newer version wrote, which it might take for leave to buy', () => {
    const later = {
      ...failed('a', 'rejected'),
      error: { code: 'haunted', message: '', retryable: false, paid: 'maybe' },
    };
    expect(() => recovered(later as unknown as JournalRecord)).toThrow('failure code "haunted"');
    const kind = { k: 'leased', at: 1, id: 'a' };
    expect(() => recovered(kind as unknown as JournalRecord)).toThrow('record kind "leased"');
    expect(() => recovered({ k: 'pause', at: 1 } as unknown as JournalRecord)).toThrow('record kind "pause"');
  });
});

describe('Recovery after a repair', () => {
  const repaired: RecordOf<'repaired'> = { k: 'repaired', at: 1, missing: 1, heldUpToRow: 5 };

  it('holds rows that have no record, up to the row that was named', () => {
    const recovery = recovered(start(), repaired);
    expect([recovery.mustHold('x', 5), recovery.mustHold('x', 6)]).toEqual([true, false]);
  });

  it('holds what is open or failed: the purchase that followed may be lost', () => {
    const recovery = recovered(
      intent('open'),
      refused('open'),
      intent('bad'),
      failed('bad', 'job-failed'),
      intent('ok'),
      completed('ok'),
      repaired,
    );
    expect(['open', 'bad', 'ok'].map((id) => recovery.mustHold(id, 1))).toEqual([true, true, false]);
  });

  it('holds no longer once the row has ended, or was sent, since', () => {
    const recovery = recovered(start(), repaired, failed('x', 'unknown'), intent('y'), refused('y'));
    expect(['x', 'y'].map((id) => recovery.mustHold(id, 1))).toEqual([false, false]);
  });

  it('opens and holds a row whose intent is lost', () => {
    const recovery = recovered(accepted('a'), reply('b'), repaired);
    expect(['a', 'b'].map((id) => [recovery.rows.get(id)?.status, recovery.mustHold(id, 99)])).toEqual([
      ['open', true],
      ['open', true],
    ]);
  });

  it('holds nothing where there was none', () => {
    const recovery = recovered(start(), intent('a'), refused('a'));
    expect([recovery.mustHold('a', 1), recovery.mustHold('x', 1)]).toEqual([false, false]);
  });
});

describe('Recovery, the money', () => {
  it('keeps a purchase whose end is not known, apart from the one that followed', () => {
    const records = [
      intent('a', { price: 100 }),
      failed('a', 'unknown', { source: 'unknown' }),
      reopen('a', 'buy'),
    ];
    expect(recovered(...records).lives.tally.totals()).toMatchObject({
      unknown: 100,
      possiblyDouble: 100,
      reserved: 0,
    });
    const again = [
      ...records,
      intent('a', { price: 120, attempt: 2 }),
      reply('a', { cost: 130 }),
      completed('a', { cost: 130 }),
    ];
    expect(recovered(...again).lives.tally.totals()).toMatchObject({
      unknown: 100,
      spent: { reported: 130 },
      purchases: 1,
    });
  });

  it('gives the money back that a person says was not spent', () => {
    const held = [intent('a', { price: 100 }), failed('a', 'unknown', { source: 'unknown' })];
    expect(recovered(...held, reopen('a', 'buy', 'settle')).lives.tally.totals()).toMatchObject({
      unknown: 0,
      possiblyDouble: 0,
    });
  });

  it('counts a picture that is saved at a later start once', () => {
    const late = [
      reply('a', { cost: 90 }),
      failed('a', 'download', { cost: 90, source: 'reported' }),
      reopen('a', 'download'),
    ];
    const totals = recovered(
      intent('a', { price: 100 }),
      ...late,
      completed('a', { cost: 90 }),
    ).lives.tally.totals();
    expect(totals).toMatchObject({
      spent: { reported: 90, estimated: 0 },
      reserved: 0,
      purchases: 1,
      statusCalls: 3,
    });
  });

  it('tells the highest price reported of each kind, endpoint and resolution', () => {
    const twoK = { resolution: '2k', endpoint: 'other' };
    const records = [
      intent('a'),
      reply('a', { cost: 90 }),
      intent('b'),
      reply('b', { cost: 80 }),
      intent('c', twoK),
      reply('c', { cost: 7 }),
    ];
    expect(recovered(...records).lives.tally.highestReported()).toEqual([
      { kind: 'edit', endpoint: 'image-edit', resolution: '1k', cost: 90 },
      { kind: 'edit', endpoint: 'other', resolution: '2k', cost: 7 },
    ]);
  });

  it('counts a purchase of no known price until its picture is saved, and after that', () => {
    const unpriced = [intent('a', { price: null }), reply('a', { cost: null, source: 'estimated' })];
    const totals = recovered(...unpriced).lives.tally.totals();
    expect(totals).toMatchObject({ unpriced: 1, reserved: 0, ended: { unpriced: 0 } });
    const ended = [...unpriced, completed('a', { cost: null, source: 'estimated' })];
    expect(recovered(...ended).lives.tally.totals()).toMatchObject({ unpriced: 1, ended: { unpriced: 1 } });
  });

  it('agrees with a list of purchases, over any records in any order', () => {
    fc.assert(
      fc.property(fc.array(anyRecord(), { maxLength: 40 }), (records) => {
        const model = new Purchases();
        for (const record of records) model.take(record);
        const { spent, unknown, reserved, possiblyDouble, unpriced, purchases, byResolution } = recovered(
          ...records,
        ).lives.tally.totals();
        expect({ ...spent, unknown, reserved, possiblyDouble, unpriced, purchases }).toEqual(model.totals());
        for (const resolution of ['1k', '2k', '']) {
          const { reported = 0, estimated = 0, unknown: held = 0 } = byResolution.get(resolution) ?? {};
          const expected = model.totals(resolution);
          expect([reported, estimated, held]).toEqual([
            expected.reported,
            expected.estimated,
            expected.unknown,
          ]);
        }
      }),
      { numRuns: 800 },
    );
  });
});

function anyRecord(): fc.Arbitrary<JournalRecord> {
  const id = fc.constantFrom('a', 'b');
  const price = fc.constantFrom(0, 1, 10, 100, null);
  const source = fc.constantFrom<CostSource>('reported', 'estimated', 'unknown', 'none');
  return fc.oneof(
    fc
      .tuple(id, price, fc.constantFrom('1k', '2k'))
      .map(([row, cost, resolution]) => intent(row, { price: cost, resolution })),
    id.map((row) => intent(row, { price: 0, takes: 'job', jobId: 'elsewhere' })),
    id.map(refused),
    id.map((row) => accepted(row)),
    fc.tuple(id, price, source).map(([row, cost, from]) => reply(row, { cost, source: from })),
    fc.tuple(id, price, source).map(([row, cost, from]) => failed(row, 'unknown', { cost, source: from })),
    fc
      .tuple(id, fc.constantFrom('poll', 'download', 'buy'), fc.constantFrom('retry', 'settle'))
      .map((args) => reopen(...args)),
  );
}

interface Purchase {
  state: 'reserved' | 'reported' | 'estimated' | 'unknown';
  price: number | null;
  readonly resolution: string;
}

/** The same rules over a plain list: every purchase is an object that stays, changes its state or is removed. */
class Purchases {
  private readonly all = new Set<Purchase>();
  private readonly doubled = new Set<Purchase>();
  private readonly current = new Map<string, Purchase>();
  private readonly waiting = new Set<string>();
  private readonly resolutions = new Map<string, string>();

  take(record: JournalRecord): void {
    if (!('id' in record)) return;
    const latest = this.current.get(record.id);
    if (record.k === 'intent') {
      if (record.takes === undefined) this.leave(record.id);
      if (!this.current.has(record.id)) {
        this.resolutions.set(record.id, record.resolution ?? '');
        this.buy(record.id, 'reserved', record.price);
      }
      // What buys nothing cannot be refused.
      if (record.takes === undefined) this.waiting.add(record.id);
      else this.waiting.delete(record.id);
      return;
    }
    if (record.k === 'refused' && this.waiting.has(record.id) && latest) this.remove(record.id);
    if (record.k === 'reply' || record.k === 'outcome') this.settle(record.id, record.source, record.cost);
    if (record.k === 'reopen' && record.to === 'buy') {
      if (record.why === 'settle') this.remove(record.id);
      else this.leave(record.id);
    } else if (record.k === 'reopen' && latest?.state === 'unknown') latest.state = 'reserved';
    this.waiting.delete(record.id);
  }

  totals(resolution?: string): Record<string, number> {
    const chosen = [...this.all].filter(
      (purchase) => resolution === undefined || purchase.resolution === resolution,
    );
    const sum = (state: Purchase['state']) =>
      chosen
        .filter((purchase) => purchase.state === state)
        .reduce((total, { price }) => total + (price ?? 0), 0);
    const double = chosen
      .filter((purchase) => this.doubled.has(purchase))
      .reduce((total, { price }) => total + (price ?? 0), 0);
    return {
      reported: sum('reported'),
      estimated: sum('estimated'),
      unknown: sum('unknown'),
      reserved: sum('reserved'),
      possiblyDouble: double,
      unpriced: chosen.filter(({ price }) => price === null).length,
      purchases: chosen.filter(({ state }) => state === 'reported' || state === 'estimated').length,
    };
  }

  private buy(id: string, state: Purchase['state'], price: number | null): void {
    const purchase = { state, price, resolution: this.resolutions.get(id) ?? '' };
    this.all.add(purchase);
    this.current.set(id, purchase);
  }

  private settle(id: string, source: CostSource, cost: number | null): void {
    const latest = this.current.get(id);
    const isSpent = latest?.state === 'reported' || latest?.state === 'estimated';
    if (source === 'reported' || source === 'estimated') {
      if (cost !== null) {
        this.remove(id);
        return this.buy(id, source, cost);
      }
    }
    if (isSpent) return;
    if (source === 'none') return this.remove(id);
    this.remove(id);
    this.buy(id, 'unknown', cost ?? (latest === undefined ? 0 : latest.price));
  }

  private remove(id: string): void {
    const latest = this.current.get(id);
    if (latest) this.all.delete(latest);
    this.current.delete(id);
  }

  private leave(id: string): void {
    const latest = this.current.get(id);
    if (latest?.state === 'reserved') latest.state = 'unknown';
    if (latest?.state === 'unknown') this.doubled.add(latest);
    this.current.delete(id);
  }
}
