import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readdir } from 'node:fs/promises';
import {
  configurableOptions,
  flagOf,
  optionsOf,
  settingOf,
} from '../../../../runners/cli/options/option-table.js';
import { optionValue } from '../../../../runners/cli/options/option-value.js';
import type { CommandName } from '../../../../runners/cli/options/table/table-row.js';
import { millrace } from '../../../support/millrace.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

const commands = [
  ...[
    'plan',
    'run',
    'config',
    'status',
    'watch',
    'settle',
    'report',
    'reconcile',
    'refetch',
    'pick',
    'init',
    'serve',
  ],
  'worker',
] as CommandName[];

it('refuses an option of one value that is given twice with different ones, and prints neither', async () => {
  const given = ['plan', 'none.csv', '--max-cost', '1', '--max-cost'];
  expect(await millrace([...given, '2'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'error: --max-cost: is given twice, with different values; leave one of them\n',
    ),
  });
  for (const more of [
    [...given, '1'],
    ['plan', 'none.csv', '--only', 'a', '--only', 'b'],
  ])
    expect((await millrace(more)).stderr).not.toContain('twice');
});

describe.each(commands)('the options of %s', (command) => {
  const options = optionsOf(command);

  it('stand once each, and their defaults are values that they take', () => {
    const names = options.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { row } of options.filter(({ row }) => row.fallback !== undefined))
      expect(row.value?.(optionValue).safeParse(row.fallback).error).toBeUndefined();
  });

  it('stand in its help, with their defaults, and in the completion', async () => {
    const { stdout } = await millrace([command, '--help']);
    const help = stdout.replace(/\s+/g, ' ');
    const completion = (await millrace(['completion', 'bash'])).stdout;
    const [completed = ''] = completion.match(new RegExp(`^ +${command}\\) .*$`, 'm')) ?? [];
    for (const { name, row } of options) {
      const flag = row.isOn ? flagOf(name).replace('--', '--no-') : flagOf(name);
      expect(help).toContain(`${flag} ${row.takes === undefined ? '' : `<${row.takes}> `}`);
      if (typeof row.fallback === 'string') expect(help).toContain(`default: ${row.fallback})`);
      expect(completed).toContain(flag);
    }
  });
});

describe('the table of options', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
    await work.write('rows.jsonl', echoJobs(2));
  });
  afterEach(() => work.close());

  it('has every option of run for plan, and lets a configuration file hold none that sends again or agrees', () => {
    const namesOf = (command: CommandName) => optionsOf(command).map(({ name }) => name);
    expect(namesOf('plan')).toEqual(expect.arrayContaining(namesOf('run')));
    expect(configurableOptions().map(({ name }) => settingOf(name))).not.toEqual(
      expect.arrayContaining(['yes']),
    );
    for (const name of ['yes', 'retry', 'on_unknown', 'changed', 'repair', 'only', 'limit'])
      expect(configurableOptions().map((option) => settingOf(option.name))).not.toContain(name);
  });

  it('takes a pasted command line of run for plan, and names what a plan does not depend on', async () => {
    const pasted = [
      ...['rows.jsonl', '--db', 'embedded', '--metrics-file', 'run.prom', '--concurrency', '3', '--yes'],
      ...['--halt', '10%', '--http', 'undici', '--max-cost', '5', '--mode', 'async', '--assume-price', '1'],
    ];
    const { code, stdout, stderr } = await work.call('plan', ...pasted);
    expect(code).toBe(0);
    expect(stdout).toContain('rows.jsonl: 2 rows');
    expect(stderr).toBe(
      'note: a plan does not depend on --db, --metrics-file, --concurrency, --http, --yes, --halt\n',
    );
    expect((await work.call('plan', ...pasted, '--quiet')).stderr).toBe('');
    expect(await readdir(work.folder)).toEqual(['rows.jsonl']);
    expect((await work.call('config', ...pasted)).code).toBe(0);
    expect((await work.call('plan', 'rows.jsonl', '--db', 'nonsense')).stderr).toContain('--db: this is no');
  });

  it('plans what a saved plan holds, and compares with it as run does', async () => {
    expect((await work.call('plan', 'rows.jsonl', '--save', 'rows.plan')).code).toBe(0);
    const same = await work.call('plan', '--plan', 'rows.plan');
    expect(same).toMatchObject({ code: 0, stderr: '' });
    expect(same.stdout).toContain('rows.jsonl: 2 rows');
    await work.write('rows.jsonl', echoJobs(3));
    const changed = await work.call('plan', '--plan', 'rows.plan');
    expect(changed.code).toBe(2);
    expect(changed.stderr).toContain('the manifest is not the one that was planned: 1 row of it differs');
    expect((await work.call('plan')).stderr).toContain("missing required argument 'manifest'");
  });

  it('plans the rows that --follow would read, once stdin has ended', async () => {
    const args = ['plan', '-', '--follow', '--out', 'live', '--json'];
    const { code, stdout } = await millrace(args, { cwd: work.folder, input: `${echoJobs(2).join('\n')}\n` });
    expect({ code, plan: JSON.parse(stdout) as object }).toMatchObject({ code: 0, plan: { rows: 2 } });
  });
});
