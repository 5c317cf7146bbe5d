import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openDayLedger } from '../../../../runners/batch/ledger/day-ledger.js';
import type { DayLedger, DayLedgerOptions } from '../../../../runners/batch/ledger/day-ledger.js';
import { ForgetfulDisk, PowerCut } from '../../../support/forgetful-disk.js';
import type { ForgetfulDiskOptions } from '../../../support/forgetful-disk.js';
import { seeded } from '../../../support/seeded.js';

const path = '/state/millrace/ledger.jsonl';
const day = 86_400_000;

/** The machine's lock: one after another. */
function mutex(): DayLedgerOptions['exclusively'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

interface Machine {
  disk: ForgetfulDisk;
  now: number;
  open(run: string, capUsd?: number): DayLedger;
}

function machine(options: ForgetfulDiskOptions = {}): Machine {
  const exclusively = mutex();
  const made: Machine = {
    disk: new ForgetfulDisk(options),
    now: 1_000,
    open: (run, capUsd = 0.0001) =>
      openDayLedger({ disk: made.disk, path, run, capUsd, exclusively, now: () => made.now }),
  };
  return made;
}

describe('openDayLedger', () => {
  it('holds the cap over all runs that share the file', async () => {
    const { open } = machine();
    const [one, two] = [open('/one'), open('/two')];
    expect(await one.reserve('a', 60)).toBe(true);
    expect(await two.reserve('a', 41)).toBe(false);
    expect(await two.reserve('a', 40)).toBe(true);
    await one.settle('a', 30);
    expect(await two.reserve('b', 30)).toBe(true);
    expect(two.snapshot()).toEqual({ cap: 100, spent: 30, reserved: 70, reservedByOthers: 0 });
    expect(one.snapshot()).toEqual({ cap: 100, spent: 30, reserved: 40, reservedByOthers: 40 });
    await two.release('b');
    expect(await one.reserve('c', 30)).toBe(true);
  });

  it('decides rows that come together one by one, with one sync', async () => {
    const { disk, open } = machine();
    const ledger = open('/one');
    await ledger.reserve('first', 1);
    const before = disk.counts.sync!;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, row) => ledger.reserve(`row-${row}`, 2)),
    );
    expect(answers.filter(Boolean)).toHaveLength(49);
    expect(disk.counts.sync! - before).toBe(1);
  });

  it('lets a rolling 24 hours pass', async () => {
    const made = machine();
    const ledger = made.open('/one');
    await ledger.reserve('a', 100);
    await ledger.settle('a', 100);
    made.now += day - 1;
    expect(await ledger.reserve('b', 1)).toBe(false);
    made.now += 60_001;
    expect(await ledger.reserve('b', 100)).toBe(true);
  });

  it('frees nothing for a wall clock that is set forward by a day, or back, while a run goes on [fault 19]', async () => {
    const made = machine();
    const passed = { now: made.now };
    const clocks = { now: () => made.now, countedBy: () => passed.now };
    const ledger = openDayLedger({
      disk: made.disk,
      path,
      run: '/one',
      capUsd: 0.0001,
      exclusively: mutex(),
      ...clocks,
    });
    await ledger.reserve('a', 100);
    await ledger.settle('a', 100);
    for (const jump of [day + 120_000, -2 * day, 400 * day]) {
      made.now += jump;
      expect(await ledger.reserve('b', 1)).toBe(false);
    }
    made.now = passed.now += day + 120_000;
    expect(await ledger.reserve('b', 100)).toBe(true);
  });

  it('gives a run back what it left reserved when it died, and counts it until then', async () => {
    const made = machine();
    await made.open('/dead').reserve('a', 60);
    made.disk = made.disk.restart();
    const other = made.open('/one');
    expect(await other.reserve('b', 50)).toBe(false);
    expect(other.snapshot().reservedByOthers).toBe(60);
    expect(other.whyNot(50)).toContain('$0.00006 are reserved ($0.00006 of it by /dead)');
    const again = made.open('/dead');
    expect(await again.outstanding()).toEqual([{ at: 1_000, run: '/dead', id: 'a', amount: 60 }]);
    await again.settle('a', 40);
    expect(await other.reserve('b', 60)).toBe(true);
  });

  it('says why a price does not fit, and when it will', async () => {
    const made = machine();
    for (const run of ['/x', '/y']) await made.open(run).reserve('a', 20);
    const ledger = made.open('/one');
    await ledger.reserve('a', 60);
    expect(await ledger.reserve('b', 10)).toBe(false);
    const why = ledger.whyNot(10);
    expect(why).toContain(`$0.00001 does not fit under the $0.0001 a day of ${path}`);
    expect(why).toContain('by /x and 1 more');
    expect(why).toContain(`It will fit at ${new Date(1_000 + day).toISOString()} at the latest.`);
    expect(ledger.whyNot(101)).toContain('It will not fit at all.');
  });

  it('begins anew where the file was moved away, and reads one that was written meanwhile', async () => {
    const made = machine();
    const [one, two] = [made.open('/one'), made.open('/two')];
    await one.reserve('a', 100);
    await made.disk.unlink(path);
    expect(await two.reserve('b', 50)).toBe(true);
    expect(await one.reserve('c', 51)).toBe(false);
    expect(one.snapshot()).toMatchObject({ reserved: 50, reservedByOthers: 50 });
  });

  it('refuses an older copy that was put in its place under a run', async () => {
    const made = machine();
    const ledger = made.open('/one');
    await ledger.reserve('a', 60);
    const older = made.disk.peek(path)!;
    await ledger.reserve('b', 30);
    made.disk.plant(path, older);
    await expect(ledger.reserve('c', 30)).rejects.toMatchObject({
      code: 'day-ledger',
      message: expect.stringContaining('has lost entries') as string,
    });
    expect(made.disk.peek(path)).toEqual(older);
  });

  it('stays short: what is history is left out, and all who read it go on', async () => {
    const made = machine();
    const [one, two] = [made.open('/one', 1), made.open('/two', 1)];
    await two.reserve('held', 7);
    for (let round = 0; round < 60; round++) {
      await Promise.all(Array.from({ length: 50 }, (_, row) => one.reserve(`row-${round}-${row}`, 1)));
      await Promise.all(Array.from({ length: 50 }, (_, row) => one.settle(`row-${round}-${row}`, 2)));
    }
    expect(made.disk.peek(path)!.length).toBeLessThan(1 << 18);
    await two.settle('held', 5);
    expect(two.snapshot()).toMatchObject({ spent: 60 * 50 * 2 + 5, reserved: 0 });
    await one.reserve('last', 1);
    expect(one.snapshot()).toMatchObject({ spent: 60 * 50 * 2 + 5, reserved: 1 });
  });

  it('answers though the history cannot be left out for now', async () => {
    const made = machine({ faults: [{ code: 'ENOSPC', call: 'rename', nth: 1 }] });
    const ledger = made.open('/one', 1);
    const fill = async (name: string): Promise<void> => {
      await Promise.all(Array.from({ length: 2_000 }, (_, row) => ledger.reserve(`${name}-${row}`, 1)));
      await Promise.all(Array.from({ length: 2_000 }, (_, row) => ledger.settle(`${name}-${row}`, 1)));
    };
    await fill('first');
    expect(made.disk.peek(path)!.length).toBeGreaterThan(1 << 18);
    await fill('second');
    expect(made.disk.peek(path)!.length).toBeLessThan(1 << 18);
    expect(ledger.snapshot()).toMatchObject({ spent: 4_000, reserved: 0 });
  });

  it('refuses a file that is damaged, and says what to do', async () => {
    const made = machine();
    await made.open('/one').reserve('a', 1);
    const text = made.disk.peek(path)!.toString();
    for (const damaged of [
      text.replace('"amount":1', '"amount":-1'),
      text.replace('reserve', 'reverse'),
      `${text}\0\0\n`,
      text.slice(9),
    ]) {
      made.disk.plant(path, damaged);
      await expect(made.open('/two').reserve('b', 1)).rejects.toMatchObject({
        code: 'day-ledger',
        message: expect.stringContaining('move the file away'),
      });
    }
  });

  it('cuts a torn end off: its writer was not told that it counts', async () => {
    const made = machine();
    await made.open('/one').reserve('a', 60);
    const text = made.disk.peek(path)!.toString();
    made.disk.plant(path, `${text}{"k":"reserve","at":1`);
    expect(await made.open('/two').reserve('b', 40)).toBe(true);
    expect(
      made.disk
        .peek(path)!
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as { k: string }).k),
    ).toEqual([...['ledger', 'reserve', 'reserve']]);
  });
});

describe('openDayLedger on a disk that fails', () => {
  it('rejects, and takes nothing for reserved that is not; it goes on once the disk is well', async () => {
    const calls = await callsOfASession();
    for (const code of ['ENOSPC', 'EIO', 'EROFS', 'EMFILE', 'EFBIG'] as const) {
      for (let nth = 1; nth <= calls; nth++) {
        const made = machine({ faults: [{ code, nth }] });
        const ledger = made.open('/one');
        const durable = await session(ledger, (error) =>
          expect(error).toMatchObject({ code: 'day-ledger', errno: code }),
        );
        made.disk.heal();
        made.disk = made.disk.restart();
        const reader = made.open('/two');
        await reader.outstanding();
        const { spent, reserved } = reader.snapshot();
        expect(spent + reserved).toBeGreaterThanOrEqual(durable);
        expect(await ledger.reserve('more', 1).catch(() => 'dead')).toBeDefined();
      }
    }
  });

  it('forgets no reservation that it reported, whenever the power goes, after a kill or none', async () => {
    const calls = await callsOfASession();
    for (let crashAt = 1; crashAt <= calls; crashAt++) {
      for (let seed = 0; seed < 10; seed++) {
        const made = machine({ crashAt, random: seeded(seed) });
        const onError = (error: unknown): void => expect(error).toBeInstanceOf(PowerCut);
        let durable = await session(made.open('/one'), onError);
        if (seed % 2 === 1) {
          made.disk = made.disk.handOver({ random: seeded(seed) });
          durable += (await made.open('/two').reserve('x', 10)) ? 10 : 0;
        }
        made.disk = made.disk.restart();
        const reader = made.open('/three');
        await reader.outstanding();
        const { spent, reserved } = reader.snapshot();
        expect(spent + reserved).toBeGreaterThanOrEqual(durable);
      }
    }
  });
});

describe('openDayLedger, over any steps of several runs', () => {
  it('never lets the sum of 24 hours pass the cap by more than the excess of what was settled dearer', async () => {
    const step = fc.record({
      run: fc.nat(2),
      id: fc.nat(3),
      verb: fc.constantFrom('reserve', 'reserve', 'settle', 'release', 'wait', 'kill'),
      amount: fc.nat(60),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const made = machine();
        const runs = ['/a', '/b', '/c'];
        const ledgers = runs.map((run) => made.open(run));
        let excess = 0;
        for (const { run, id, verb, amount } of steps) {
          const ledger = ledgers[run]!;
          if (verb === 'kill') ledgers[run] = made.open(runs[run]!);
          else if (verb === 'wait') made.now += amount * 3_600_000;
          else if (verb === 'release') await ledger.release(`${id}`);
          else if (verb === 'reserve') await ledger.reserve(`${id}`, amount);
          else {
            const held =
              (await ledger.outstanding()).findLast((reservation) => reservation.id === `${id}`)?.amount ?? 0;
            excess += Math.max(amount - held, 0);
            await ledger.settle(`${id}`, amount);
          }
          const reader = made.open('/reader');
          await reader.outstanding();
          const { spent, reserved, cap } = reader.snapshot();
          expect(spent + reserved).toBeLessThanOrEqual(cap + excess);
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** Some rows, one after another; returns the sum that was reported as durable. */
async function session(ledger: DayLedger, onError: (error: unknown) => void): Promise<number> {
  let durable = 0;
  const done = (amount: number) => () => void (durable += amount);
  await ledger.reserve('a', 20).then((given) => done(given ? 20 : 0)(), onError);
  await ledger.reserve('b', 30).then((given) => done(given ? 30 : 0)(), onError);
  // A settlement is dearer here, so that losing it shows.
  await ledger.settle('a', 25).then(done(5), onError);
  return durable;
}

async function callsOfASession(): Promise<number> {
  const made = machine();
  await session(made.open('/one'), () => expect.fail());
  return made.disk.calls;
}
