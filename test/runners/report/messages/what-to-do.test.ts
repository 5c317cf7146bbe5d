import { describe, expect, it } from 'vitest';
import { failureCodes, type FailureCode } from '../../../../src/contract/failure-code.js';
import { reservedPrices } from '../../../../runners/report/messages/edit-prices.js';
import { groupFailures, type FailureGroup } from '../../../../runners/report/messages/group-failures.js';
import type { RunCommand } from '../../../../runners/report/messages/run-again.js';
import { toGoOn, whatToDo, type ToDo } from '../../../../runners/report/messages/what-to-do.js';
import { countedLabel, statusLabel } from '../../../../runners/report/messages/status-label.js';

const codes = Object.keys(failureCodes) as FailureCode[];
const run: RunCommand = {
  manifest: 'my edits.csv',
  folder: 'my.out',
  options: ['--base-url', 'https://api.example.test', '--max-cost', '20'],
  isRehearsal: false,
  another: 'my.out-again',
};
const prices = { '1k': 87_500, '2k': 130_000 };
const began = Date.UTC(2026, 10, 22, 9);

function groupOf(code: FailureCode): FailureGroup {
  const groups = groupFailures();
  groups.take({ id: 'ash', code, message: 'ash: boom', at: began, resolution: '1k' });
  groups.take({ id: 'birch', code, message: 'birch: boom', at: began + 1000, resolution: '2k' });
  const [group] = groups.list();
  if (group === undefined) throw new Error('no group');
  return group;
}

function toDoOf(code: FailureCode, command = run, known: Readonly<Record<string, number>> = prices): ToDo {
  const [toDo] = whatToDo([groupOf(code)], command, known);
  if (toDo === undefined) throw new Error('nothing to do');
  return toDo;
}

describe.each(codes)('rows that failed as %s', (code) => {
  const toDo = toDoOf(code);

  it('have a plain title, whole sentences, and a command that can be pasted', () => {
    expect(toDo.title).toMatch(/^2 [a-z ]+$/);
    expect(toDo.advice).toMatch(/^[A-Z].*[.:]$/);
    expect(toDo.advice.split('`').length % 2).toBe(1);
    expect(toDo.cost).toMatch(/^[A-Z].*\.$/);
    if (toDo.advice.endsWith(':')) expect(toDo.command).toMatch(/^millrace (run|refetch|settle) /);
    if (toDo.command?.startsWith('millrace run') === true)
      expect(toDo.command).toMatch(
        /^millrace run 'my edits.csv' --out my.out --base-url https:\/\/api.example.test --max-cost 20( --retry [a-z-]+)?$/,
      );
  });

  it('have a name, also where there are several', () => {
    expect(statusLabel(code)).toMatch(/^[a-z, ]+$/);
    expect(countedLabel(code, 1)).toBe(statusLabel(code));
    expect(countedLabel(code, 2)).not.toMatch(/^(?:job|route call|unreadable reply|unexpected output)\b/);
  });
});

it('never advises to send again what may be paid for, but with the word that accepts it', () => {
  for (const code of codes.filter((one) => failureCodes[one].paid !== 'no')) {
    const { command = '' } = toDoOf(code);
    expect(command).not.toContain('--retry failed');
    if (command.includes('--retry')) expect(command).toContain(`--retry ${code}`);
  }
});

it('tells the price of the command by the prices of the run', () => {
  expect(toDoOf('job-failed').cost).toBe('Not charged; sending them again costs $0.2175.');
  expect(toDoOf('unknown').cost).toContain('up to $0.2175');
  expect(toDoOf('job-failed', run, {}).cost).toBe('Not charged.');
});

it('says that a command also does the rows to go of its manifest, which its price has not in it', () => {
  const costs = (command: RunCommand, code: FailureCode): string =>
    whatToDo([groupOf(code)], command, prices, 15)[0]?.cost ?? '';
  const more = ' The command also continues with the 15 rows to go.';
  expect(costs(run, 'rejected')).toBe(`Not charged; sending them again costs $0.2175.${more}`);
  expect(costs(run, 'deadline')).toBe(`May have been charged.${more}`);
  for (const code of ['unknown', 'download', 'output-mismatch'] as const)
    expect(costs(run, code)).not.toContain('to go');
  expect(costs({ ...run, isRehearsal: true }, 'rejected')).toBe('Rehearsal, nothing spent.');
  const latest = { manifest: 'redo.csv', options: [] };
  expect(costs({ ...run, latest }, 'rejected')).not.toContain('to go');
});

it('prices rows by their endpoint, where it has prices of its own or has reported a higher one', () => {
  const groups = groupFailures();
  for (const endpoint of ['cheap', 'dear', 'plain'])
    groups.take({ id: endpoint, code: 'job-failed', message: 'boom', resolution: '1k', endpoint });
  const known = reservedPrices(
    { ...prices, 'cheap at 1k': 20_000 },
    { 'dear at 1k': 100_000, 'plain at 1k': 80_000 },
  );
  expect(whatToDo(groups.list(), run, known)[0]?.cost).toBe('Not charged; sending them again costs $0.2075.');
});

it('speaks of a single row in the singular', () => {
  const one = (code: FailureCode) =>
    whatToDo([{ ...groupOf(code), count: 1, edits: new Map([['1k', 1]]) }], run, prices)[0];
  expect(one('job-failed')?.cost).toBe('Not charged; sending it again costs $0.0875.');
  expect(one('download')?.advice).toMatch(/^The download failed\. Download it by /);
  const rehearsal = { ...run, isRehearsal: true };
  for (const of of [run, rehearsal])
    for (const code of codes.filter((each) => of === rehearsal || each !== 'download'))
      expect(toDoOf(code, of).advice).not.toMatch(/\b(?:these|they)\b|\b(?:send|buy|lists|gives) them\b/i);
});

it('quotes a message with its numbers where all rows have the same, and without what differs', () => {
  const causeOf = (...messages: readonly string[]): string | undefined => {
    const groups = groupFailures();
    for (const [n, message] of messages.entries()) groups.take({ id: `row-${n}`, code: 'rejected', message });
    return whatToDo(groups.list(), run, prices)[0]?.cause;
  };
  const message = 'HTTP 400: a picture has at most 4096 pixels a side';
  expect(causeOf(message, message)).toBe(message);
  expect(causeOf(`${message}, not 5000`, `${message}, not 6000`)).toBe(
    'HTTP 400: a picture has at most … pixels a side, not …',
  );
});

it('says of a rehearsal that nothing was spent, and names no dollars', () => {
  for (const code of codes)
    expect(toDoOf(code, { ...run, isRehearsal: true }).cost).toBe('Rehearsal, nothing spent.');
});

it('says until when paid pictures can be downloaded', () => {
  const { advice, command, cost } = toDoOf('download');
  expect(advice).toContain('29 Nov');
  expect(command).toBe('millrace refetch my.out');
  expect(cost).toBe('Paid; downloading is free.');
});

it('prices a command by all rows that it takes, where they failed for several causes', () => {
  const groups = groupFailures();
  groups.take({ id: 'ash', code: 'job-failed', message: 'boom', resolution: '1k' });
  groups.take({ id: 'birch', code: 'job-failed', message: 'out of memory', resolution: '2k' });
  expect(whatToDo(groups.list(), run, prices).map(({ cost }) => cost)).toEqual([
    'Not charged; sending all 2 job-failed rows again costs $0.2175.',
    'Not charged; sending all 2 job-failed rows again costs $0.2175.',
  ]);
});

it('never names a command that may pay twice for rows in doubt', () => {
  expect(toDoOf('unknown').command).toBe('millrace settle my.out');
});

it('names no command where rows arrived without a manifest, and says how they are sent again', () => {
  const { command, advice } = toDoOf('job-failed', { ...run, manifest: '' });
  expect(command).toBeUndefined();
  expect(advice).toMatch(/\. Feed the rows again with `--retry job-failed`\.$/);
});

it('goes on with what is left, and prices it first where the cap was reached', () => {
  expect(toGoOn(3, run, { exitCode: 0 })).toMatchObject([
    {
      title: '3 rows to go',
      command: "millrace run 'my edits.csv' --out my.out --base-url https://api.example.test --max-cost 20",
    },
  ]);
  const caps = [{ option: 'max-cost' as const, usd: 20 }];
  expect(toGoOn(3, run, { exitCode: 3, caps })[0]).toMatchObject({
    cause: '',
    advice: 'See what they cost, then run with more than --max-cost 20:',
    command: "millrace plan 'my edits.csv' --out my.out --base-url https://api.example.test --max-cost none",
  });
  expect(toGoOn(0, run, { exitCode: 0 })).toEqual([]);
});

it('goes on with the manifest of the last start, which has the rows to go', () => {
  const latest = { manifest: 'my edits.redo.csv', options: ['--max-cost', '5'] };
  const command = "millrace run 'my edits.redo.csv' --out my.out --max-cost 5";
  expect(toGoOn(3, { ...run, latest }, { exitCode: 0 })).toMatchObject([{ command }]);
  const toGo = ['--changed', 'redo'];
  expect(toGoOn(3, { ...run, latest, toGo }, { exitCode: 130 })).toMatchObject([
    { command: `${command} --changed redo` },
  ]);
  expect(toDoOf('job-failed', { ...run, toGo }).command).not.toContain('--changed');
});

it('names the manifest of rows that failed with a later one, and prices its rows alone', () => {
  const groups = groupFailures();
  const failed = (id: string, manifest?: string) =>
    groups.take({ id, code: 'job-failed', message: 'no', resolution: '1k', manifest });
  for (const id of ['a', 'b']) failed(id);
  failed('c', '/here/redo.csv');
  const others = new Map([['/here/redo.csv', { manifest: 'redo.csv', options: ['--local'] }]]);
  expect(whatToDo(groups.list(), { ...run, others }, { '1k': 87_500 })).toMatchObject([
    {
      title: '2 jobs failed',
      cost: expect.stringContaining('$0.175'),
      command: expect.stringContaining("run 'my edits.csv'"),
    },
    {
      title: '1 job failed',
      cost: expect.stringContaining('$0.0875'),
      command: 'millrace run redo.csv --out my.out --local --retry job-failed',
    },
  ]);
});

it('names the caps of values that stopped the run, each with its amount, and lifts no other one', () => {
  const caps = [
    { option: 'max-cost-by' as const, column: 'customer', usd: 0.2 },
    { option: 'max-cost-by' as const, column: 'art style', usd: 5 },
  ];
  expect(toGoOn(3, run, { exitCode: 3, caps })[0]).toMatchObject({
    advice:
      "See what they cost, then run with more than --max-cost-by customer=0.2 and --max-cost-by 'art style=5':",
    command:
      "millrace plan 'my edits.csv' --out my.out --base-url https://api.example.test --max-cost 20 --max-cost-by customer=none --max-cost-by 'art style=none'",
  });
});

it('goes on as it is once a day has room again', () => {
  const caps = [{ option: 'max-cost-per-day' as const, usd: 5 }];
  const [ofDay] = toGoOn(3, run, { exitCode: 3, caps });
  expect(ofDay?.advice).toBe(
    'Once the last 24 hours have room again, or with more than --max-cost-per-day 5, continue:',
  );
  expect(ofDay?.command).toContain('millrace run ');
});

it('does not doubt what a person has settled as paid', () => {
  const groups = groupFailures();
  groups.take({ id: 'ash', code: 'expired', message: 'settled by hand', paid: 'yes', resolution: '1k' });
  groups.take({ id: 'birch', code: 'expired', message: 'settled by hand', resolution: '2k' });
  const [given, expired] = whatToDo(groups.list(), run, prices);
  expect(given).toMatchObject({
    title: '1 result was given up',
    cost: 'Paid; sending all 2 expired rows again costs $0.2175.',
  });
  expect(given?.advice).toContain('Settled by hand as paid');
  expect(expired?.title).toBe('1 result has expired');
  expect(expired?.cost).toContain('May have been charged');
});

it('names what stopped the last start, unless its rows show it', () => {
  const reason = 'Stopped because the service refuses the API key.';
  expect(toGoOn(3, run, { exitCode: 4, reason })[0]?.cause).toBe(reason);
  expect(toGoOn(3, run, { exitCode: 6, reason: '2 rows are in doubt.' })[0]?.cause).toBe('');
  expect(toGoOn(3, run, {})[0]?.cause).toBe('');
});

it('says of a rehearsal that its jobs ended with the emulator', () => {
  const { title, advice } = toDoOf('expired', { ...run, isRehearsal: true });
  expect(title).toBe('2 jobs ended with the emulator');
  expect(advice).toContain('a real service goes on with them');
});

it('leaves the faults out where a rehearsal was ended by them, and keeps them where it was killed', () => {
  const rehearsal = { ...run, isRehearsal: true, options: ['--local', '--faults', '429=1', '--seed', '3'] };
  expect(toGoOn(3, rehearsal, { exitCode: 69 })[0]).toMatchObject({
    advice: 'Continue without the faults:',
    command: "millrace run 'my edits.csv' --out my.out --local --seed 3",
  });
  expect(toGoOn(3, rehearsal, { exitCode: 3 })[0]?.advice).toBe('Continue without the faults:');
  expect(toGoOn(3, rehearsal, { exitCode: 6 })[0]?.advice).toBe('Continue without the faults:');
  const caps = [{ option: 'max-cost-per-day' as const, usd: 5 }];
  expect(toGoOn(3, rehearsal, { exitCode: 3, caps })[0]?.command).toContain('--faults 429=1');
  expect(toGoOn(3, rehearsal, {})[0]?.command).toContain('--faults 429=1');
  expect(toDoOf('job-failed', rehearsal).command).not.toContain('--faults');
});

it('names no higher cap where something else stopped the run, and no plain going on where something is wrong', () => {
  const [ofPrice] = toGoOn(3, run, { exitCode: 3 });
  expect(ofPrice?.advice).toContain('See what they cost now. If you agree, run with --max-cost or --yes');
  // The same command would stop there again.
  expect(ofPrice?.command).toContain('millrace plan ');
  expect(toGoOn(3, run, { exitCode: 4 })[0]?.advice).toContain('Put right what stopped it');
  expect(toGoOn(3, run, { exitCode: 69 })[0]?.advice).toContain('can be reached');
});
