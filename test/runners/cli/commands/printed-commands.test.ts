import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { millrace, type MillraceEnd } from '../../../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

/** A spreadsheet's manifest of jobs: semicolons, columns of other names, one that looks like a field, a value for all rows. */
const shaped = [
  ...['--format', 'csv', '--delimiter', ';', '--map', 'id=Nr', '--map', 'input=Arbeit'],
  ...['--set', 'endpoint=grind', '--ignore', 'promt', '--kind', 'job', '--skip-invalid'],
];

describe('a command that millrace prints', () => {
  let work: Rehearsal;
  let isBroken: boolean;
  let losesReplies: boolean;
  beforeEach(async () => {
    [isBroken, losesReplies] = [true, false];
    work = await openRehearsal({
      functions: {
        queue: {
          grind: ({ n }: { n?: number }) => {
            if (isBroken && n !== 1) throw new Error('out of memory');
            return { n };
          },
        },
      },
      faultOf: ({ operation }) => (operation === 'run' && losesReplies ? 'reset-after' : ''),
    });
    const rows = [1, 2, 3].map((n) => `r${n};"{""n"":${n}}";x`);
    await work.write("Anna's rows.txt", ['Nr;Arbeit;promt', ...rows, 'r4;not json;x']);
  });
  afterEach(() => work.close());

  it('names every option that its manifest needs, also for rows of earlier starts', async () => {
    expect((await work.call('run', "Anna's rows.txt", '--out', 'o', ...shaped)).code).toBe(1);
    isBroken = false;
    const second = await work.call('run', "Anna's rows.txt", '--out', 'o', ...shaped);
    const [retry = ''] = commandsIn(second).filter((command) => command.includes('--retry'));
    expect(retry).toContain(`millrace run 'Anna'\\''s rows.txt' --out o --base-url`);
    expect(second.stdout).toMatch(/2 jobs failed \(job-failed\): .*out of memory/);

    // Pasted in another terminal, which has the key and no more.
    expect((await paste(retry)).code).toBe(0);
    expect((await work.lines('o/results.jsonl')).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['r1', 'r2', 'r3']),
    );
    expect(work.emulator.bill()).toHaveLength(5);
  });

  it('stands in the report as in the terminal', async () => {
    const { stdout } = await work.call('run', "Anna's rows.txt", '--out', 'o', ...shaped);
    const page = await readFile(join(work.folder, 'o/report.html'), 'utf8');
    const [retry = ''] = commandsIn({ stdout }).filter((command) => command.includes('--retry job-failed'));
    const inPage = page.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<');
    expect(inPage).toContain(retry.slice(retry.indexOf('--base-url')));
  });

  it('sends a manifest of stdin through stdin again', async () => {
    const input = await readFile(join(work.folder, "Anna's rows.txt"), 'utf8');
    const first = await millrace(['run', '-', '--out', 'o', ...shaped], {
      cwd: work.folder,
      env: work.env,
      input,
    });
    isBroken = false;
    const [retry = ''] = commandsIn(first).filter((command) => command.includes('--retry'));
    expect(retry).toMatch(/^millrace run - --out o .* < o\/manifest\.csv$/);
    expect((await paste(retry)).code).toBe(0);
    expect(await work.lines('o/results.jsonl')).toHaveLength(3);
  });

  it('goes on with what a limit or a cap has left', async () => {
    isBroken = false;
    await work.write('prices.json', ['{"endpoints": {"grind": {"usdPerJob": 0.01}}}']);
    const priced = [...shaped, '--prices', 'prices.json'];
    const part = await work.call('run', "Anna's rows.txt", '--out', 'o', ...priced, '--limit', '1');
    const [goOn = ''] = commandsIn(part).filter((command) => !command.includes('--retry'));
    const end = await paste(goOn);
    expect(await work.lines('o/results.jsonl')).toHaveLength(3);
    expect(end.stdout).toContain('1 row is invalid');

    const capped = await work.call(
      'run',
      "Anna's rows.txt",
      '--out',
      'c',
      ...priced,
      '--max-cost',
      '0.01',
      '--yes',
    );
    expect(capped.code).toBe(3);
    const [price = ''] = commandsIn(capped).filter((command) => command.startsWith('millrace plan'));
    const plan = await paste(price);
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stdout).toContain('may cost $0.02');
    expect(work.emulator.bill()).toHaveLength(4);
  });

  it('lists the ways to decide about rows in doubt, and how to go on then', async () => {
    isBroken = false;
    losesReplies = true;
    const lost = await work.call('run', "Anna's rows.txt", '--out', 'o', ...shaped);
    expect(lost.code).toBe(6);
    const [list = ''] = commandsIn(lost).filter((command) => command.includes('settle'));
    losesReplies = false;
    const listed = await paste(list);
    expect(listed).toMatchObject({ code: 0 });
    expect(listed.stdout).toMatch(/^o: 3 purchases in doubt/);
    const ways = commandsIn(listed);
    const decided = await paste(ways.find((way) => way.endsWith('--not-sent')) ?? '');
    expect(decided).toMatchObject({ code: 0 });
    const goOn = /^Go on: (millrace .*)$/m.exec(decided.stdout)?.[1] ?? '';
    expect((await paste(goOn)).code).toBe(6);
    expect(await work.lines('o/results.jsonl')).toHaveLength(1);
    const again = ways.find((way) => way.endsWith('--retry unknown')) ?? '';
    expect((await paste(again)).code).toBe(0);
    expect((await work.call('settle', 'o')).stdout).toContain('2 purchases in doubt');
    expect((await work.call('settle', 'o')).stdout).toContain('--attempt 1 --not-sent');
  });

  it('names the endpoint that rows of the first manifest need, also after a start with its failures', async () => {
    losesReplies = true;
    const rows = [1, 2].map((n) => JSON.stringify({ id: `r${n}`, input: { n } }));
    await work.write('plain.jsonl', rows);
    const first = ['plain.jsonl', '--endpoint', 'grind', '--out', 'o'];
    expect((await work.call('run', ...first)).code).toBe(6);
    const retried = await work.call('plan', ...first, '--retry', 'unknown');
    expect(retried.stdout).toContain('  to be sent   2 rows (2 in doubt, which may charge twice)\n');
    expect(retried.stdout).not.toContain('  in doubt  ');
    const failures = await work.call('plan', 'o/failures.jsonl');
    expect(failures.stdout).toContain('  in doubt     2 rows that another run may have bought, and left\n');
    expect((await work.call('run', 'o/failures.jsonl', '--out', 'o')).code).toBe(6);
    const [again = ''] = commandsIn(await work.call('settle', 'o')).filter((one) => one.includes('--retry'));
    expect(again).toContain('plain.jsonl --out o');
    losesReplies = false;
    expect((await paste(again)).code).toBe(1);
    expect(await work.lines('o/results.jsonl')).toMatchObject([{ id: 'r1' }]);
  });

  it('lists the ways to decide about earlier attempts of rows that have all completed', async () => {
    isBroken = false;
    losesReplies = true;
    await work.write('prices.json', ['{"endpoints": {"grind": {"usdPerJob": 0.01}}}']);
    const run = ['run', "Anna's rows.txt", '--out', 'o', ...shaped, '--prices', 'prices.json'];
    expect((await work.call(...run)).code).toBe(6);
    losesReplies = false;
    const end = await work.call(...run, '--retry', 'unknown');
    expect(end).toMatchObject({ code: 0 });
    for (const { stdout } of [end, await work.call('status', 'o')]) {
      expect(stdout).toContain('  $0.03 in doubt for earlier attempts\n');
      const [list = ''] = commandsIn({ stdout }).filter((command) => command.includes('settle'));
      expect((await paste(list)).stdout).toMatch(/^o: 3 purchases in doubt, up to \$0\.03/);
    }
    const notSent = ['--attempt', '1', '--not-sent'];
    for (const id of ['r1', 'r2', 'r3']) await work.call('settle', 'o', id, ...notSent);
    expect((await work.call('status', 'o')).stdout).not.toContain('settle');
  });

  it('takes rows that were fed one by one for no manifest', async () => {
    const fed = await millrace(['run', '-', '--follow', '--out', 'o', '--endpoint', 'grind'], {
      cwd: work.folder,
      env: work.env,
      input: '{"id":"a","input":{"n":2}}\n',
    });
    expect(fed.stderr).toContain('Feed the rows again with `--retry job-failed`.');
    expect(commandsIn({ stdout: fed.stderr })).toEqual([]);
  });

  /** As a shell takes it, with the key alone in the environment. */
  async function paste(command: string): Promise<MillraceEnd> {
    const [words = '', file] = command.split(/ < (?=\S+$)/);
    const { stdout } = await promisify(execFile)('sh', ['-c', `printf '%s\\n' ${words}`]);
    const [program, ...args] = stdout.trimEnd().split('\n');
    expect(program).toBe('millrace');
    const input = file === undefined ? '' : await readFile(join(work.folder, file), 'utf8');
    return millrace(args, { cwd: work.folder, env: { MILLRACE_API_KEY: work.emulator.apiKey }, input });
  }
});

function commandsIn({ stdout }: Pick<MillraceEnd, 'stdout'>): string[] {
  return [...stdout.matchAll(/^ {4,}(millrace .*)$/gm)].map(([, command = '']) => command);
}
