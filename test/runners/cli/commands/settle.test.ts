import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { viewReport } from '../../../../runners/report/report-view.js';
import { withRowsToGo } from '../../../../runners/report/survey/rows-to-go.js';
import { surveyRun } from '../../../../runners/report/survey/survey-run.js';
import { millrace } from '../../../support/millrace.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('millrace settle', () => {
  let work: Rehearsal;
  let losesReplies: boolean;
  beforeEach(async () => {
    losesReplies = true;
    work = await openRehearsal({
      faultOf: ({ operation }) => (operation === 'run' && losesReplies ? 'reset-after' : ''),
    });
    await work.write('rows.jsonl', echoJobs(1));
    expect((await work.call('run', 'rows.jsonl')).code).toBe(6);
    losesReplies = false;
  });
  afterEach(() => work.close());

  it('lets the next start ask for the job that was found out', async () => {
    const [bought] = work.emulator.bill();
    const settled = await work.call('settle', 'rows.out', 'j0', '--job', bought!.id);
    expect(settled).toMatchObject({ code: 0 });
    expect(settled.stdout).toMatch(
      `j0: job ${bought!.id} is polled when the run continues\nGo on: millrace run rows.jsonl --out rows.out`,
    );
    expect((await work.call('run', 'rows.jsonl')).code).toBe(0);
    expect(await work.lines('rows.out/results.jsonl')).toMatchObject([{ id: 'j0', jobId: bought!.id }]);
    expect(work.emulator.bill()).toHaveLength(1);
  });

  it('names a statement that is not there', async () => {
    expect(await work.call('settle', 'rows.out', '--statement', 'none.csv', '--yes')).toMatchObject({
      code: 2,
      stderr: 'error: --statement: "none.csv": there is no such file\n',
    });
  });

  it('names each manifest that rows in doubt, or to go, were sent with', async () => {
    losesReplies = true;
    const rows = echoJobs(4);
    for (const [place, name] of ['more', 'rest', 'last'].entries()) {
      await work.write(`${name}.jsonl`, rows.slice(place + 1, place + 2));
      const more = await work.call('run', `${name}.jsonl`, '--add', '--out', 'rows.out');
      expect(more).toMatchObject({ code: 6 });
    }
    const runs = (text: string): string[] =>
      [...text.matchAll(/millrace run (\S+)/g)].map(([, name = '']) => name);
    const listed = await work.call('settle', 'rows.out');
    expect(runs(listed.stdout)).toEqual(['rows.jsonl', 'more.jsonl', 'rest.jsonl', 'last.jsonl']);
    const settled = await work.call('settle', 'rows.out', 'j1', 'j2', '--not-sent');
    expect(settled.stdout).toMatch(
      /\nGo on: millrace run more.jsonl .*\nGo on: millrace run rest.jsonl .*\n$/,
    );
    const toGo = ['last.jsonl', 'more.jsonl', 'rest.jsonl'];
    expect(runs((await work.call('status', 'rows.out')).stdout)).toEqual(toGo);
    expect(await work.call('report', 'rows.out')).toMatchObject({ code: 0 });
    const survey = await surveyRun(nodeDisk, join(work.folder, 'rows.out'));
    const { toDos } = viewReport(await withRowsToGo(nodeDisk, survey), []);
    const inReport = toDos.map(({ title, command = '' }) => [title, basename(runs(command)[0] ?? '')]);
    expect(inReport.slice(-2)).toEqual([
      ['1 row of an earlier manifest to go', 'more.jsonl'],
      ['1 row of an earlier manifest to go', 'rest.jsonl'],
    ]);
  });

  it('says that the command for rows in doubt also does the rows to go', async () => {
    const listed = async () => (await work.call('settle', 'rows.out')).stdout;
    expect(await listed()).toContain('send the rows again, which may charge them twice:\n');
    await work.write('rows.jsonl', echoJobs(3));
    expect(await work.call('run', 'rows.jsonl', '--limit', '1')).toMatchObject({ code: 6 });
    expect(await listed()).toContain(
      'send the rows again, which may charge them twice, and continue with the rows to go:\n',
    );
  });

  it('opens as many files for a list of many rows as for one, and so for the command that goes on', async () => {
    const opening = vi.spyOn(nodeDisk, 'open');
    const opened = async (...args: string[]): Promise<number> => {
      opening.mockClear();
      expect(await work.call('settle', 'rows.out', ...args)).toMatchObject({ code: 0 });
      return opening.mock.calls.length;
    };
    try {
      const listOfOne = await opened();
      losesReplies = true;
      await work.write('rows.jsonl', echoJobs(8));
      expect(await work.call('run', 'rows.jsonl')).toMatchObject({ code: 6 });
      losesReplies = false;
      expect(await opened()).toBe(listOfOne);
      expect(await opened('j1', 'j2', 'j3', 'j4', 'j5', '--not-sent')).toBe(await opened('j6', '--not-sent'));
    } finally {
      opening.mockRestore();
    }
  });

  it('says of a settled row that it is not in doubt, whatever the amount', async () => {
    expect((await work.call('settle', 'rows.out', 'j0', '--paid', '0.0875')).code).toBe(0);
    for (const more of [[], ['--attempt', '1']]) {
      const again = await work.call('settle', 'rows.out', 'j0', '--paid', '99', ...more);
      expect(again).toMatchObject({ code: 2, stdout: '' });
      expect(again.stderr).toContain('row "j0" is not in doubt, it is expired');
      expect(again.stderr).not.toContain('too high');
    }
  });

  it('reserves what was typed as paid for later rows if it is above their price, and plan says so', async () => {
    await work.write('rows.jsonl', echoJobs(2));
    await work.call('settle', 'rows.out', 'j0', '--paid', '0.1');
    const { stdout } = await work.call('plan', 'rows.jsonl', '--assume-price', '0.02');
    expect(stdout).toContain('  reserved     echo a job $0.10: the highest cost so far\n');
    expect(stdout).toContain('  this start   may cost $0.10\n');
    const json = await work.call('plan', 'rows.jsonl', '--assume-price', '0.02', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ reserved: { 'echo a job': 0.1 } });
    const { stderr } = await work.call('run', 'rows.jsonl', '--assume-price', '0.02', '--max-cost', '1');
    expect(stderr).toContain('  reserved     echo a job $0.10: the highest cost so far\n');
  });

  it('lets the next start send what never arrived', async () => {
    expect((await work.call('settle', 'rows.out', 'j0', '--not-sent')).code).toBe(0);
    expect((await work.call('run', 'rows.jsonl')).code).toBe(0);
    expect(work.emulator.bill()).toHaveLength(2);
  });

  it.each([
    [['--not-sent'], { k: 'release', id: 'j0' }],
    [['--paid', '0.02'], { k: 'settle', id: 'j0', amount: 20_000 }],
  ])('tells the ledger that runs share: %j', async (way, entry) => {
    losesReplies = true;
    const money = [
      '--yes',
      '--assume-price',
      '0.01',
      '--max-cost-per-day',
      '1',
      '--ledger',
      'day.jsonl',
      '--out',
      'shared',
    ];
    expect((await work.call('run', 'rows.jsonl', ...money)).code).toBe(6);
    expect((await work.lines('day.jsonl')).at(-1)).toMatchObject({ k: 'reserve', id: 'j0' });
    expect((await work.call('settle', 'shared', 'j0', ...way)).code).toBe(0);
    expect((await work.lines('day.jsonl')).at(-1)).toMatchObject(entry);
  });

  it.each(['--job', '--not-sent'])(
    'reserves the row once in that ledger where it takes %s back',
    async (way) => {
      losesReplies = true;
      const money = ['--yes', '--assume-price', '0.01', '--max-cost-per-day', '1', '--ledger', 'day.jsonl'];
      expect((await work.call('run', 'rows.jsonl', ...money, '--out', 'shared')).code).toBe(6);
      const jobId = work.emulator.bill().at(-1)!.id;
      const before = (await work.lines('day.jsonl')).length;
      const settled = await work.call('settle', 'shared', 'j0', way, ...(way === '--job' ? [jobId] : []));
      expect(settled.code).toBe(0);
      expect((await work.call('settle', 'shared', 'j0', '--undo')).code).toBe(0);
      const entries = (await work.lines('day.jsonl')).slice(before).map(({ k, amount }) => [k, amount]);
      const isFreed = way === '--not-sent';
      expect(entries).toEqual(
        isFreed
          ? [
              ['release', undefined],
              ['reserve', 10_000],
            ]
          : [],
      );
    },
  );

  it('lists a row that another run has sent, and lets the next start send it where it never arrived', async () => {
    const again = ['run', 'rows.out/failures.jsonl', '--yes'];
    const failed = await work.call(...again);
    expect(failed.code).toBe(6);
    expect(failed.stdout + failed.stderr).toContain('nobody knows yet ("j0")');
    const list = (await work.call('settle', 'rows.out/failures.out')).stdout;
    expect(list).toMatch(/1 purchase in doubt, of no known price\n {2}j0 +no known price\n/);
    expect(list).not.toContain('--job');
    expect(list).not.toContain('Several ids');
    expect((await work.call('settle', 'rows.out/failures.out', 'j0', '--not-sent')).code).toBe(0);
    expect((await work.call(...again)).code).toBe(0);
    expect(work.emulator.bill()).toHaveLength(2);
  });

  it('proposes no job for an attempt whose row was bought again since', async () => {
    losesReplies = true;
    expect((await work.call('run', 'rows.jsonl', '--retry', 'unknown')).code).toBe(6);
    const list = (await work.call('settle', 'rows.out')).stdout;
    expect(list).toMatch(/j0, attempt 1 .*\n {2}j0 /);
    expect(list).toContain('millrace settle rows.out j0 --attempt 1 --not-sent');
    expect(list).toContain('millrace settle rows.out j0 --job ID');
  });

  it('writes down what was paid for nothing', async () => {
    const { code, stdout } = await work.call('settle', 'rows.out', 'j0', '--paid', '0.0875');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'j0: was paid, $0.0875, and its result is given up\n',
    });
    expect(await work.json('rows.out/summary.json')).toMatchObject({
      failures: { expired: 1 },
      cost: { reported: 0.0875 },
    });
    expect((await work.call('run', 'rows.jsonl')).code).toBe(0);
    expect(work.emulator.bill()).toHaveLength(1);
  });

  it('writes down no amount that is far from the price before a person has agreed: it cannot be taken back', async () => {
    const odd = await work.call('settle', 'rows.out', 'j0', '--paid', '875');
    expect(odd.code).toBe(2);
    expect(odd.stderr).toContain(
      '--paid: $875.00 seems too high: the price of row "j0" is not known; a recorded cost cannot be taken back',
    );
    expect(odd.stderr).toContain('nothing is settled');
    expect(await work.json('rows.out/summary.json')).toMatchObject({ failures: { unknown: 1 } });
    expect((await work.call('settle', 'rows.out', 'j0', '--paid', '875', '--yes')).code).toBe(0);
    await work.write('more.jsonl', echoJobs(1));
    losesReplies = true;
    const more = ['more.jsonl', '--assume-price', '0.01', '--out', 'more.out', '--yes'];
    expect((await work.call('run', ...more)).code).toBe(6);
    const odder = await work.call('settle', 'more.out', 'j0', '--paid', '0.11');
    expect(odder).toMatchObject({ code: 2, stdout: '' });
    expect(odder.stderr).toContain('$0.11 seems too high: row "j0" was expected to cost $0.01;');
    expect((await work.call('settle', 'more.out', 'j0', '--paid', '0.1')).code).toBe(0);
  });

  it.each([
    [['nobody', '--not-sent'], 'the run has no row with the id "nobody"'],
    [['j0'], 'one of --job ID, --paid USD and --not-sent'],
    [['j0', '--paid', 'much'], '--paid: "much" is not an amount'],
    [['j0', '--job', 'a b'], '--job: is not a job id'],
  ])('refuses %j with 2', async (args, why) => {
    const { code, stderr } = await work.call('settle', 'rows.out', ...args);
    expect(stderr).toContain(`error: `);
    expect(stderr).toContain(why);
    expect(code).toBe(2);
  });

  it('refuses a row that nobody doubts', async () => {
    await work.call('settle', 'rows.out', 'j0', '--not-sent');
    await work.call('run', 'rows.jsonl');
    expect(await work.call('settle', 'rows.out', 'j0', '--not-sent')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not in doubt'),
    });
  });

  it('asks the service for the job first: one that it does not know needs --yes', async () => {
    const refused = await work.call('settle', 'rows.out', 'j0', '--job', 'no-such-job');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('the service does not know job "no-such-job" at the endpoint echo');
    const elsewhere = await work.call(
      'settle',
      'rows.out',
      'j0',
      '--job',
      'x',
      '--base-url',
      'http://127.0.0.1:9',
    );
    expect(elsewhere.stderr).toContain('was not looked up: the run is against');
    const settled = await work.call('settle', 'rows.out', 'j0', '--job', 'no-such-job', '--yes');
    expect(settled).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('warning: the service does not know'),
    });
  });

  it('names the rows that a killed start has sent, which no start has put in doubt yet', async () => {
    const records = await work.lines('rows.out/journal.jsonl');
    const sent = records.slice(0, records.findIndex(({ k }) => k === 'intent') + 1);
    await work.write(
      'killed.out/journal.jsonl',
      sent.map((record) => JSON.stringify(record)),
    );
    const { code, stdout } = await work.call('settle', 'killed.out');
    expect(stdout).toBe(
      [
        'killed.out: no row is in doubt yet',
        '1 row was sent and not answered before the last start ended: j0',
        '  in doubt from the next start on, which does not send it again; to settle one now, name it:',
        '    millrace settle killed.out j0 --not-sent\n',
      ].join('\n'),
    );
    expect(code).toBe(0);
  });

  it('prints a command that settles a row whose id begins with a dash', async () => {
    losesReplies = true;
    await work.write('dash.jsonl', ['{"id":"-x","endpoint":"echo","input":{"n":1}}']);
    expect((await work.call('run', 'dash.jsonl')).code).toBe(6);
    losesReplies = false;
    expect((await work.call('settle', 'dash.out')).stdout).toContain(
      '    millrace settle dash.out --not-sent -- -x\n',
    );
    expect(await work.call('settle', 'dash.out', '--not-sent', '--', '-x')).toMatchObject({ code: 0 });
  });

  it('takes several ids', async () => {
    losesReplies = true;
    await work.write('more.jsonl', echoJobs(3));
    expect((await work.call('run', 'more.jsonl')).code).toBe(6);
    losesReplies = false;
    expect((await work.call('settle', 'more.out')).stdout).toContain('Several ids can be named at once');
    const { code, stdout } = await work.call('settle', 'more.out', 'j0', 'j2', '--not-sent');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      'j0: is sent when the run continues\nj2: is sent when the run continues\nGo on: millrace run ',
    );
    const one = await work.call('settle', 'more.out', 'j0', 'j2', '--job', 'x');
    expect(one.stderr).toContain('--job: a job belongs to one row');
  });

  it('settles no row by a charge that may be that of another one: both are named', async () => {
    losesReplies = true;
    await work.write('more.jsonl', echoJobs(3));
    const price = ['--assume-price', '0.02', '--concurrency', '1', '--yes'];
    expect((await work.call('run', 'more.jsonl', ...price)).code).toBe(6);
    losesReplies = false;
    await work.write('bill.csv', ['job_id,amount', 'one-of-them,0.02']);
    const before = (await work.lines('more.out/journal.jsonl')).length;
    const args = ['settle', 'more.out', '--statement', 'bill.csv', '--yes'];
    const { code, stdout } = await work.call(...args);
    expect(stdout).toBe(
      'j0, j1, j2: the statement has 1 charge of their price (job one-of-them): not settled; look whose it is, and settle each row with --job\n',
    );
    expect(code).toBe(1);
    expect((await work.lines('more.out/journal.jsonl')).length).toBe(before);
    // One charge each, but no line that says whose: nothing is settled by chance.
    await work.write('bill.csv', ['job_id,amount', 'a,0.02', 'b,0.02', 'c,0.02']);
    const three = await work.call(...args);
    expect(three.stdout).toContain(
      'j0, j1, j2: the statement has 3 charges of their price (job a, job b, job c): not settled',
    );
    expect(three.stdout).toMatch(/all were paid; .*\n {4}millrace settle more\.out j0 j1 j2 --paid 0\.02\n$/);
    expect((await work.lines('more.out/journal.jsonl')).length).toBe(before);
    // Decided by hand, the charge is booked, and the others were not charged.
    await work.write('bill.csv', ['job_id,amount', 'one-of-them,0.02']);
    expect((await work.call('settle', 'more.out', 'j1', '--job', 'one-of-them', '--yes')).code).toBe(0);
    const rest = await work.call(...args);
    expect(rest.stdout).not.toContain('j1');
  });

  it('settles nothing as never sent by one page of a statement, which lacks what the run has paid for', async () => {
    await work.write('more.jsonl', echoJobs(3));
    const price = ['--assume-price', '0.02', '--concurrency', '1', '--yes'];
    expect((await work.call('run', 'more.jsonl', ...price, '--limit', '2')).code).toBe(0);
    losesReplies = true;
    expect((await work.call('run', 'more.jsonl', ...price)).code).toBe(6);
    losesReplies = false;
    const page = (await work.lines('more.out/results.jsonl')).map(({ jobId }) => `${String(jobId)},0.02`);
    await work.write('bill.csv', ['job_id,amount', ...page.slice(1)]);
    const args = ['settle', 'more.out', '--statement', 'bill.csv', '--yes'];
    expect(await work.call(...args)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^j2: the statement lacks jobs .*: not settled\n$/),
    });
    await work.write('bill.csv', ['job_id,amount', ...page]);
    expect((await work.call(...args)).stdout).toContain('j2: is sent when the run continues');
  });

  it('counts rows that were settled as paid among those that a charge may be of', async () => {
    losesReplies = true;
    await work.write('more.jsonl', echoJobs(3));
    expect(
      (await work.call('run', 'more.jsonl', '--assume-price', '0.02', '--concurrency', '1', '--yes')).code,
    ).toBe(6);
    losesReplies = false;
    expect((await work.call('settle', 'more.out', 'j0', '--paid', '0.02')).code).toBe(0);
    const args = ['settle', 'more.out', '--statement', 'bill.csv', '--yes'];
    await work.write('bill.csv', ['job_id,amount', 'a,0.02']);
    const one = await work.call(...args);
    expect(one).toMatchObject({ code: 1, stdout: expect.stringContaining('which may be of j0 as well') });
    await work.write('bill.csv', ['job_id,amount', 'a,0.02', 'b,0.02', 'c,0.02']);
    const all = await work.call(...args);
    expect(all.stdout).toContain('millrace settle more.out j1 j2 --paid 0.02\n');
    expect((await work.call('settle', 'more.out', 'j1', 'j2', '--paid', '0.02')).code).toBe(0);
    expect((await work.call('reconcile', 'more.out', '--statement', 'bill.csv')).code).toBe(0);
  });

  it('finds the host of the job in the configuration beside the manifest, and names it where nothing does', async () => {
    const [bought] = work.emulator.bill();
    const bare = { MILLRACE_API_KEY: work.emulator.apiKey };
    const settle = (...args: string[]) =>
      millrace(['settle', 'rows.out', ...args], { cwd: work.folder, env: bare });
    const host = `--base-url ${work.emulator.baseUrl}`;
    expect((await settle()).stdout).toContain(`millrace settle rows.out j0 --job ID ${host}\n`);
    const refused = await settle('j0', '--job', bought!.id);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`add ${host}`) });
    await work.write('millrace.config.json', [JSON.stringify({ base_url: work.emulator.baseUrl })]);
    expect((await settle()).stdout).toContain('millrace settle rows.out j0 --job ID\n');
    expect((await settle('j0', '--job', bought!.id)).code).toBe(0);
  });

  it('knows a row by its id where that looks like a formula to a spreadsheet', async () => {
    losesReplies = true;
    const row = { id: '@one', endpoint: 'echo', input: { n: 1 } };
    await work.write('odd.jsonl', [JSON.stringify(row)]);
    expect((await work.call('run', 'odd.jsonl', '--assume-price', '0.02', '--yes')).code).toBe(6);
    losesReplies = false;
    const list = (await work.call('settle', 'odd.out')).stdout;
    expect(list).toMatch(/ {2}@one +\$0\.02, sent .*\n/);
    expect(list).toContain('millrace settle odd.out @one --not-sent');
    await work.write('bill.csv', ['job,cost', 'other,5']);
    const settled = await work.call('settle', 'odd.out', '--statement', 'bill.csv', '--yes');
    expect(settled).toMatchObject({ code: 0, stdout: expect.stringContaining('@one: is sent') });
  });

  it('takes a job past the deadline for none that was never sent, and settles the others by the statement', async () => {
    const slow = { id: 'slow', endpoint: 'echo', input: { n: 1, sleepMs: 60_000 } };
    const run = ['run', 'slow.jsonl', '--assume-price', '0.02', '--yes'];
    await work.write('slow.jsonl', [...echoJobs(1), JSON.stringify(slow)]);
    losesReplies = true;
    expect((await work.call(...run, '--only', 'j0')).code).toBe(6);
    losesReplies = false;
    expect((await work.call(...run, '--timeout', '500ms')).code).toBe(6);
    const later = new Date(Date.now() + 60_000).toISOString();
    await work.write('bill.csv', ['job,cost,time', `other,5,${later}`]);
    const { code, stdout } = await work.call('settle', 'slow.out', '--statement', 'bill.csv', '--yes');
    expect(stdout).toMatch(/slow: it was accepted as job \S+, which the next start polls: not settled\n/);
    expect(stdout).toContain('j0: is sent when the run continues');
    expect(code).toBe(1);
    const books = await work.call('reconcile', 'slow.out', '--statement', 'bill.csv');
    expect(books.stdout).toMatch(
      /slow \(row 2\): no charge for its job \S+, which may not have ended by then/,
    );
  });

  it('does what reconcile proposes by a statement, with --yes where it cannot ask', async () => {
    losesReplies = true;
    await work.write('more.jsonl', echoJobs(2));
    expect(
      (await work.call('run', 'more.jsonl', '--assume-price', '0.02', '--concurrency', '1', '--yes')).code,
    ).toBe(6);
    losesReplies = false;
    await work.write('bill.csv', ['job_id,amount', 'nobody-1,0.50']);
    const args = ['settle', 'more.out', '--statement', 'bill.csv'];
    const asked = await work.call(...args);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(asked.stdout).toBe('j0: is sent when the run continues\nj1: is sent when the run continues\n');
    const before = (await work.lines('more.out/journal.jsonl')).length;
    expect((await work.call(...args, '--yes')).code).toBe(0);
    expect((await work.lines('more.out/journal.jsonl')).length).toBe(before + 2);
    expect((await work.call(...args, '--yes')).stdout).toContain('there is nothing to settle');
  });
});
