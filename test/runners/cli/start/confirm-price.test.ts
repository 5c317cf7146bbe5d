import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { confirmPrice, confirmRedo, confirmSame } from '../../../../runners/cli/start/agree-to-plan.js';
import { toMicroDollars } from '../../../../src/contract/micro-dollars.js';

/** A person who answers once the question is printed. */
function someone({ stdin = true, stderr = true }, answer?: string) {
  const streams = {
    stdin: Object.assign(new PassThrough(), { isTTY: stdin }),
    stderr: Object.assign(new PassThrough(), { isTTY: stderr, columns: 80 }),
  };
  const print = streams.stderr.write.bind(streams.stderr);
  streams.stderr.write = (text: string) => {
    if (answer !== undefined && text.includes('[y/N]')) setImmediate(() => streams.stdin.end(answer));
    return print(text);
  };
  return streams;
}

const terminal = {};
const elsewhere = { stdin: false, stderr: false };
const stake = (usd: number, unpriced = 0) => ({ estimated: toMicroDollars(usd), unpriced });
const nothing = { yes: false, isCapped: false };

describe('confirmPrice', () => {
  it.each([terminal, elsewhere])('lets a start of $25 begin', async (where) => {
    expect(await confirmPrice(stake(25, 3), nothing, someone(where))).toBe('go');
  });

  it.each(['y\n', 'Yes\n'])('asks above $25 on a terminal, and goes on at %j', async (answer) => {
    const io = someone(terminal, answer);
    expect(await confirmPrice(stake(25.01), nothing, io)).toBe('go');
    expect(String(io.stderr.read())).toContain('This may cost $25.01. Go on? [y/N]');
  });

  it('asks on a terminal under a cap too, and names the rows that are not counted', async () => {
    const io = someone(terminal, 'y\n');
    expect(await confirmPrice(stake(40, 3), { yes: false, isCapped: true }, io)).toBe('go');
    expect(String(io.stderr.read())).toContain(
      '$40.00, and 3 rows of no known price are not counted. Go on?',
    );
  });

  it.each(['n\n', '\n', '', 'ja\n'])('does not start at %j', async (answer) => {
    await expect(confirmPrice(stake(30), nothing, someone(terminal, answer))).rejects.toThrow(
      'nothing was sent',
    );
  });

  it.each(['y\n', 'y'])('does not take %j, typed before the question, for an answer', async (typed) => {
    const io = someone(terminal, '\n');
    io.stdin.write(typed);
    await expect(confirmPrice(stake(30), nothing, io)).rejects.toThrow('nothing was sent');
  });

  it.each([
    [{ stdin: false }, 'stdin is not a terminal'],
    [{ stderr: false }, 'stderr is not a terminal'],
    [elsewhere, 'stdin and stderr are not terminals'],
  ])('refuses above $25 where it cannot ask: %j', async (where, why) => {
    await expect(confirmPrice(stake(25.01), nothing, someone(where))).rejects.toThrow(why);
  });

  it.each([
    { yes: true, isCapped: false },
    { yes: false, isCapped: true },
  ])('takes %j for the agreement where it cannot ask', async (consent) => {
    expect(await confirmPrice(stake(1000), consent, someone(elsewhere))).toBe('go');
  });
});

describe('confirmSame', () => {
  const rows = { rows: 2, cost: { estimated: toMicroDollars(0.35), unpriced: 0 }, first: [] };
  const none = { ...rows, rows: 0, cost: { estimated: 0, unpriced: 0 } };
  const same = { same: rows };
  const asks = { yes: false };

  it('asks on a terminal about rows that would be bought a second time', async () => {
    for (const ahead of [same, { same: none, bought: rows }]) {
      const io = someone(terminal, 'y\n');
      expect(await confirmSame(ahead, asks, io)).toBe('go');
      expect(String(io.stderr.read())).toContain(
        '2 rows ask for exactly what another row asks for ($0.35). Buy them too? [y/N]',
      );
      await expect(confirmSame(ahead, asks, someone(terminal, 'n\n'))).rejects.toThrow('nothing was sent');
    }
  });

  it('goes on where there are none, where it cannot ask, and with --yes', async () => {
    expect(await confirmSame({ same: none }, asks, someone(terminal))).toBe('go');
    expect(await confirmSame(same, asks, someone(elsewhere))).toBe('go');
    expect(await confirmSame(same, { yes: true }, someone(terminal))).toBe('go');
  });

  it('warns of them with --quiet, where no plan names them, unless they are agreed to', async () => {
    const first = [{ id: 'copy', line: 14, sameAsLine: 5 }];
    const printed = async (ahead: Parameters<typeof confirmSame>[0], yes = false) => {
      const io = someone(elsewhere);
      expect(await confirmSame(ahead, { yes, quiet: true }, io)).toBe('go');
      return String(io.stderr.read() ?? '');
    };
    const one = { rows: 1, cost: { estimated: toMicroDollars(0.0875), unpriced: 0 }, first };
    expect(await printed({ same: one })).toBe(
      'warning: 1 row asks for exactly what another row asks for, each is bought: $0.0875\n  line 14 (id "copy") asks for the same as line 5\n',
    );
    expect(await printed({ same: one }, true)).toBe('');
    expect(await printed({ same: none })).toBe('');
    const unpriced = { rows: 1, cost: { estimated: 0, unpriced: 1 }, first, elsewhere: ['/job/out'] };
    expect(await printed({ same: none, bought: unpriced })).toBe(
      'warning: 1 row asks for what was bought already, in /job/out; it is bought again: 1 row of no known price. To continue the run that was begun, name its folder: --out /job/out\n',
    );
  });

  it('buys nothing again that the run has bought under other ids where it cannot ask, unless that is agreed to', async () => {
    const ahead = { same: none, bought: rows };
    await expect(confirmSame(ahead, asks, someone(elsewhere))).rejects.toThrow(
      '2 rows ask for what the run has bought already under other ids ($0.35)',
    );
    expect(await confirmSame(ahead, { yes: true }, someone(elsewhere))).toBe('go');
    const unpriced = { ...rows, cost: { estimated: 0, unpriced: 2 } };
    expect(await confirmSame({ same: none, bought: unpriced }, asks, someone(elsewhere))).toBe('go');
  });

  it('adds up what this run has bought and what others have, and names both', async () => {
    const others = { ...rows, rows: 3, elsewhere: ['/job/two'] };
    const ahead = { same: none, bought: { ...rows, others } };
    const io = someone(terminal, 'y\n');
    expect(await confirmSame(ahead, asks, io)).toBe('go');
    expect(String(io.stderr.read())).toContain(
      '5 rows ask for exactly what another row asks for, or what was bought already, in /job/two ($0.70). Buy them too? [y/N]',
    );
    await expect(confirmSame(ahead, asks, someone(elsewhere))).rejects.toThrow(
      '2 rows ask for what the run has bought already under other ids ($0.35), and 3 rows ask for what was bought already, in /job/two ($0.35). A start asks before it buys them again',
    );
  });

  it('counts each row once that asks for what another row of the manifest does, and another run has bought', async () => {
    const asked = async (
      same: typeof rows,
      bought: NonNullable<Parameters<typeof confirmSame>[0]['bought']>,
    ) => {
      const io = someone(terminal, 'y\n');
      expect(await confirmSame({ same, bought }, asks, io)).toBe('go');
      return String(io.stderr.read());
    };
    const one = { rows: 1, cost: { estimated: toMicroDollars(0.175), unpriced: 0 }, first: [] };
    expect(await asked(one, { ...rows, elsewhere: ['/job/two'], twice: one })).toContain(
      '2 rows ask for exactly what was bought already, in /job/two ($0.35). Buy them too?',
    );
    expect(await asked(rows, { ...rows, elsewhere: ['/job/two'], twice: one })).toContain(
      '3 rows ask for exactly what another row asks for, or what was bought already, in /job/two ($0.525). Buy them too?',
    );
    expect(await asked(one, { ...rows, twice: one })).toContain(
      '2 rows ask for exactly what another row asks for ($0.35). Buy them too?',
    );
  });

  it('says that the other journal is damaged, and how to repair it', async () => {
    const bought = { ...rows, elsewhere: ['/job/two'], isLost: true, isDamaged: true };
    await expect(confirmSame({ same: none, bought }, asks, someone(elsewhere))).rejects.toMatchObject({
      message: expect.stringContaining(
        '2 rows ask for what may have been bought already, in /job/two, whose journal is damaged, or an older copy ($0.35)',
      ),
      hint: expect.stringContaining(
        'continue there with --out /job/two --repair, or buy them again with --yes',
      ),
    });
  });

  it('names the folder in which it was bought, and how to go on there', async () => {
    const ahead = { same: none, bought: { ...rows, elsewhere: ['/job/first run', '/job/two'] } };
    await expect(confirmSame(ahead, asks, someone(elsewhere))).rejects.toMatchObject({
      problems: [
        '2 rows ask for what was bought already, in /job/first run and 1 other folder ($0.35). A start asks before it buys them again, and it cannot ask here: stdin and stderr are not terminals',
      ],
      hint: "continue there with --out '/job/first run', or buy them again with --yes; nothing was sent",
    });
    const io = someone(terminal, 'n\n');
    await expect(confirmSame(ahead, asks, io)).rejects.toThrow('nothing was sent');
    expect(String(io.stderr.read())).toContain(
      '2 rows ask for exactly what was bought already, in /job/first run and 1 other folder ($0.35). Buy them too?',
    );
    expect(await confirmSame(ahead, { yes: true }, someone(elsewhere))).toBe('go');
  });
});

describe('confirmRedo', () => {
  const first = [{ id: 'b', line: 3, sameAsLine: 0 }];
  const ahead = { outdated: { rows: 1, cost: { estimated: toMicroDollars(0.04), unpriced: 0 }, first } };

  it('asks on a terminal about rows whose rejected picture was bought again since', async () => {
    const io = someone(terminal, 'y\n');
    expect(await confirmRedo(ahead, { yes: false }, io)).toBe('go');
    expect(String(io.stderr.read())).toContain(
      '1 row rejects a picture that was bought again since ($0.04). Buy them again all the same? [y/N]',
    );
    await expect(confirmRedo(ahead, { yes: false }, someone(terminal, 'n\n'))).rejects.toThrow(
      'nothing was sent',
    );
  });

  it('refuses them by row and line where it cannot ask, unless that is agreed to', async () => {
    await expect(confirmRedo(ahead, { yes: false }, someone(elsewhere))).rejects.toMatchObject({
      problems: [
        'line 3 (id "b") rejects a picture that was bought again since',
        expect.stringContaining('cannot ask here: stdin and stderr are not terminals'),
      ],
      hint: 'save the redo manifest from a new report, or buy them with --yes; nothing was sent',
    });
    expect(await confirmRedo(ahead, { yes: true }, someone(elsewhere))).toBe('go');
    expect(await confirmRedo({}, { yes: false }, someone(elsewhere))).toBe('go');
  });
});
