import { describe, expect, it } from 'vitest';
import { createLedger } from '../../../../runners/batch/ledger/ledger.js';
import { openDayLedger, type DayLedger } from '../../../../runners/batch/ledger/day-ledger.js';
import { DayMoney } from '../../../../runners/batch/start/money/day-money.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const shared = (run = '/mine', disk = new ForgetfulDisk()) =>
  openDayLedger({
    disk,
    path: '/state/ledger.jsonl',
    capUsd: 100 / 1e6,
    run,
    exclusively: (work) => work(),
    now: () => 1_000_000,
  });

function open(day: DayLedger = shared()) {
  const faults: unknown[] = [];
  const money = new DayMoney(day, (error) => faults.push(error));
  return { day, faults, money, ledger: money.behind(createLedger()) };
}

describe('DayMoney', () => {
  it('books what is settled, gives back what is released, and leaves what may have been bought', async () => {
    const { day, money, ledger } = open();
    for (const id of ['paid', 'refused', 'doubt']) {
      ledger.reserve(id, 30);
      expect(await money.reserve(id, 30)).toBe(true);
    }
    ledger.settle('paid', 25);
    ledger.release('refused');
    ledger.keepUnknown('doubt');
    await money.flush();
    expect(day.snapshot()).toMatchObject({ spent: 25, reserved: 30 });
    expect((await day.outstanding()).map(({ id }) => id)).toEqual(['doubt']);
    expect(ledger.snapshot()).toMatchObject({ spent: 25, reserved: 0, unknown: 30 });
  });

  it('says at the end of a run why a price did not fit, when what was reserved then has been spent', async () => {
    const { money, ledger } = open();
    for (const id of ['a', 'b']) {
      ledger.reserve(id, 60);
      await money.reserve(id, 60);
    }
    const cause = money.whyStop(60);
    expect(cause.reason).toContain('$0.00 were spent, and $0.00006 are reserved');
    ledger.settle('a', 60);
    await money.flush();
    expect(cause.reason).toContain('does not fit');
    expect(cause.reason).toContain('$0.00006 were spent, and $0.00 are reserved. It will fit at ');
  });

  it('says so where the price fits by then', async () => {
    const { money, ledger } = open();
    ledger.reserve('a', 60);
    await money.reserve('a', 60);
    const cause = money.whyStop(60);
    ledger.settle('a', 10);
    await money.flush();
    expect(cause.reason).toContain('$0.00006 did not fit under the $0.0001 a day of /state/ledger.jsonl');
    expect(cause.reason).toContain('It fits now, because rows cost less than was reserved for them.');
  });

  it('gives back what was granted after its row had been left', async () => {
    const { day, money, ledger } = open();
    ledger.reserve('a', 60);
    const granted = money.reserve('a', 60);
    ledger.release('a');
    expect(await granted).toBe(true);
    await money.flush();
    expect(day.snapshot().reserved).toBe(0);
  });

  it('releases nothing that did not fit: an earlier purchase of the row stays', async () => {
    const { day, money, ledger } = open();
    await money.reserve('a', 80);
    ledger.reserve('a', 80);
    ledger.keepUnknown('a');
    ledger.reserve('a', 80);
    expect(await money.reserve('a', 80)).toBe(false);
    ledger.release('a');
    await money.flush();
    expect(day.snapshot().reserved).toBe(80);
  });

  it('keeps an earlier purchase that may have been made when a second one is left before it was asked for', async () => {
    const { day, money, ledger } = open();
    ledger.reserve('a', 30);
    await money.reserve('a', 30);
    ledger.keepUnknown('a');
    ledger.release('a');
    await money.flush();
    expect(day.snapshot().reserved).toBe(30);
    expect(ledger.snapshot().unknown).toBe(30);
  });

  it('takes a price that nobody knows for nothing until it is known', async () => {
    const { day, money, ledger } = open();
    ledger.reserve('a', null);
    expect(await money.reserve('a', null)).toBe(true);
    ledger.settle('a', 40);
    await money.flush();
    expect(day.snapshot()).toMatchObject({ spent: 40, reserved: 0 });
  });

  it('tells of a ledger that cannot be written, and grants nothing then', async () => {
    const broken: DayLedger = {
      whyNot: () => '',
      snapshot: () => ({ cap: 0, spent: 0, reserved: 0, reservedByOthers: 0 }),
      reserve: () => Promise.reject(new Error('full')),
      settle: () => Promise.reject(new Error('gone')),
      release: () => Promise.resolve(),
      outstanding: () => Promise.resolve([]),
    };
    const { money, ledger, faults } = open(broken);
    ledger.reserve('a', 1);
    expect(await money.reserve('a', 1)).toBe(false);
    ledger.settle('a', 1);
    await money.flush();
    expect(faults).toEqual([new Error('full'), new Error('gone')]);
  });
});
