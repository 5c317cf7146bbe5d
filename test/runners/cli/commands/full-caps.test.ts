import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { millrace } from '../../../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

/** A run of four rows of $0.01 each, two of customer a and two of b, of which a cap has room for some. */
describe('a run that a cap has stopped', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal({ functions: { queue: { grind: () => ({ cost: 0.01 }) } } });
    await work.write('prices.json', ['{"endpoints": {"grind": {"usdPerJob": 0.01}}}']);
    await work.write(
      'jobs.jsonl',
      ['a', 'b', 'a', 'b'].map((customer, n) =>
        JSON.stringify({ id: `j${n}`, endpoint: 'grind', customer, input: { n } }),
      ),
    );
  });
  afterEach(() => work.close());
  const call = (...args: string[]) =>
    millrace(args, {
      cwd: work.folder,
      env: { ...work.env, XDG_STATE_HOME: join(work.folder, 'state') },
    });
  const run = (...caps: string[]) =>
    call('run', 'jobs.jsonl', '--prices', 'prices.json', '--concurrency', '1', ...caps);
  const page = async () =>
    (await readFile(join(work.folder, 'jobs.out/report.html'), 'utf8'))
      .replaceAll('&#39;', "'")
      .replaceAll('&#x3D;', '=')
      .replaceAll('&quot;', '"');

  it.each([
    [['--max-cost', '0.02'], '--max-cost 0.02', '--max-cost none'],
    [['--max-cost-by', 'customer=0.01'], '--max-cost-by customer=0.01', '--max-cost-by customer=none'],
    [
      ['--max-cost', '1', '--max-cost-by', 'customer=0.01'],
      '--max-cost-by customer=0.01',
      '--max-cost 1 --max-cost-by customer=none',
    ],
  ])('%j: proposes more of it, after a look at the price of the rest', async (caps, more, lifted) => {
    const { code, stdout } = await run(...caps);
    expect(code).toBe(3);
    const advice = `See what they cost, then run with more than ${more}:`;
    expect(stdout).toContain(`    ${advice}\n`);
    const command = /^ {6}millrace (plan .*)$/m.exec(stdout)?.[1] ?? '';
    expect(command).toMatch(new RegExp(` ${lifted}$`));
    expect((await call('status', 'jobs.out')).stdout).toContain(advice);
    const inPage = await page();
    expect(inPage).toContain(advice);
    expect(inPage).toContain(lifted);
    const priced = await call(...command.split(' '));
    expect(priced.stdout).toContain('this start   may cost $0.02');
    const json = await work.json('jobs.out/summary.json');
    expect(json['thisStart']).toMatchObject({ caps: [{ option: caps.at(-2)?.slice(2) }] });
  });

  it('by the cap of a day: goes on as it is once there is room, or with a higher one', async () => {
    const { code, stdout } = await run('--max-cost-per-day', '0.02');
    expect(code).toBe(3);
    const advice =
      'Once the last 24 hours have room again, or with more than --max-cost-per-day 0.02, continue:';
    expect(stdout).toContain(`    ${advice}\n      millrace run jobs.jsonl`);
    expect((await call('status', 'jobs.out')).stdout).toContain(advice);
    expect(await page()).toContain(advice);
  });
});
