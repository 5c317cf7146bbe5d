import { describe, expect, it } from 'vitest';
import { failureCodes, type FailureCode } from '../../../../src/contract/failure-code.js';
import { groupFailures, type FailureGroup } from '../../../../runners/report/messages/group-failures.js';
import { whatToDo, type RunCommand } from '../../../../runners/report/messages/what-to-do.js';
import { statusLabel } from '../../../../runners/report/messages/status-label.js';

const codes = Object.keys(failureCodes) as FailureCode[];
const run: RunCommand = {
  manifest: 'my edits.csv',
  folder: 'my.out',
  options: ['--base-url', 'https://api.example.test', '--max-cost', '20'],
  isRehearsal: false,
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

describe.each(codes)('rows that failed as %s', (code) => {
  const toDo = whatToDo(groupOf(code), run, prices);

  it('have a plain title, whole sentences, and a command that can be pasted', () => {
    expect(toDo.title).toMatch(/^2 [a-z ]+$/);
    expect(toDo.advice).toMatch(/^[A-Z].*[.:]$/);
    expect(toDo.advice.split('`').length % 2).toBe(1);
    expect(toDo.cost).toMatch(/^[A-Z].*\.$/);
    if (toDo.advice.endsWith(':')) expect(toDo.command).toMatch(/^millrace (run|refetch) /);
    if (toDo.command?.startsWith('millrace run') === true)
      expect(toDo.command).toMatch(
        /^millrace run 'my edits.csv' --out my.out --base-url https:\/\/api.example.test --max-cost 20( --retry [a-z-]+)?$/,
      );
  });

  it('have a name', () => expect(statusLabel(code)).toMatch(/^[a-z, ]+$/));
});

it('never advises to send again what may be paid for, but with the word that accepts it', () => {
  for (const code of codes.filter((one) => failureCodes[one].paid !== 'no')) {
    const { command = '' } = whatToDo(groupOf(code), run, prices);
    expect(command).not.toContain('--retry failed');
    if (command.includes('--retry')) expect(command).toContain(`--retry ${code}`);
  }
});

it('tells the price of the command by the prices of the run', () => {
  expect(whatToDo(groupOf('job-failed'), run, prices).cost).toBe(
    'Not charged; sending them again costs $0.22.',
  );
  expect(whatToDo(groupOf('unknown'), run, prices).cost).toContain('up to $0.22');
  expect(whatToDo(groupOf('job-failed'), run, {}).cost).toBe('Not charged.');
});

it('says of a rehearsal that nothing was spent, and names no dollars', () => {
  for (const code of codes)
    expect(whatToDo(groupOf(code), { ...run, isRehearsal: true }, prices).cost).toBe(
      'Rehearsal, nothing spent.',
    );
});

it('says until when paid pictures can be downloaded', () => {
  const { advice, command, cost } = whatToDo(groupOf('download'), run, prices);
  expect(advice).toContain('29 Nov');
  expect(command).toBe('millrace refetch my.out');
  expect(cost).toBe('Paid; downloading is free.');
});
