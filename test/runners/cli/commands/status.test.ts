import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

describe('millrace status', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
  });
  afterEach(() => work.close());

  it('tells of a run that has ended, and changes nothing', async () => {
    await work.write('rows.jsonl', [
      ...echoJobs(2),
      JSON.stringify({ id: 'bad', endpoint: 'echo', input: { fail: 'x' } }),
    ]);
    await work.call('run', 'rows.jsonl');
    const before = await work.everything('rows.out');
    const { code, stdout, stderr } = await work.call('status', 'rows.out');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^rows\.out: ended \d+ s ago with exit code 1\n/);
    expect(stdout).toContain('  completed    2 of 3 rows\n  failed       1   job-failed 1\n');
    expect(stdout).toMatch(
      /\n {2}1 job failed \(job-failed\): .*\n {4}id bad; .*\n.*\n {6}millrace run rows\.jsonl .*\n$/,
    );
    const json = await work.call('status', 'rows.out', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      isRunning: false,
      exitCode: 1,
      rows: { total: 3, completed: 2, failed: 1 },
    });
    expect(await work.everything('rows.out')).toEqual(before);
  });

  it('says of a rehearsal that nothing was spent', async () => {
    await work.write('rows.jsonl', echoJobs(1));
    await work.call('run', 'rows.jsonl', '--local');
    expect((await work.call('status', 'rows.local.out')).stdout).toContain(
      '  cost         rehearsal, nothing spent; a real run: ',
    );
    expect(JSON.parse((await work.call('status', 'rows.local.out', '--json')).stdout)).toMatchObject({
      isRehearsal: true,
    });
  });

  it('tells of a run while it runs', async () => {
    await work.write('rows.jsonl', echoJobs(1, { sleepMs: 60_000 }));
    const run = work.start('run', 'rows.jsonl');
    await until(() => work.emulator.bill().length === 1);
    await until(
      async () => JSON.parse((await work.call('status', 'rows.out', '--json')).stdout).pending.accepted === 1,
    );
    const { code, stdout } = await work.call('status', 'rows.out');
    expect(code).toBe(0);
    expect(stdout).toContain(`rows.out: running as process ${run.child.pid} on `);
    expect(stdout).toContain('  to go        1   of them 1 accepted\n');
    run.child.kill('SIGKILL');
    await run.ended;
    const cut = (await work.call('status', 'rows.out')).stdout;
    expect(cut).toMatch(/^rows\.out: stopped: the last start, \d+ s ago, ended without finishing\n/);
    expect(cut).toMatch(
      new RegExp(
        `\\n  1 row to go\\n    Continue:\\n      millrace run rows\\.jsonl --out rows\\.out --base-url ${work.emulator.baseUrl}[^\\n]*\\n$`,
      ),
    );
  });

  it('says of a request without an answer that the next start holds it, as plan does', async () => {
    await work.write('rows.jsonl', echoJobs(1, { sleepMs: 60_000 }));
    const run = work.start('run', 'rows.jsonl', '--mode', 'sync');
    await until(
      async () =>
        JSON.parse((await work.call('status', 'rows.out', '--json')).stdout || '{}').pending?.sent === 1,
    );
    const during = (await work.call('plan', 'rows.jsonl', '--mode', 'sync', '--max-cost', 'none')).stdout;
    expect(during).toContain('  going on     1 row in flight\n');
    expect(during).not.toContain('in doubt');
    expect(during).toContain(`note: process ${run.child.pid} on `);
    run.child.kill('SIGKILL');
    await run.ended;
    expect((await work.call('status', 'rows.out')).stdout).toContain(
      '  to go        1   of them 1 sent and not answered (in doubt from the next start on)\n',
    );
    const { stdout } = await work.call('plan', 'rows.jsonl', '--mode', 'sync', '--max-cost', 'none');
    expect(stdout).toContain('  in doubt     1 row: look at');
    expect(stdout).not.toContain('going on');
    const json = await work.call('plan', 'rows.jsonl', '--mode', 'sync', '--json');
    expect(JSON.parse(json.stdout).start).toMatchObject({ goingOn: 0, toHold: 1, toSend: 0 });
    expect((await work.call('run', 'rows.jsonl', '--mode', 'sync')).stderr).toContain(
      '  this start   0 rows to send, 1 in doubt\n',
    );
  });

  it('names the runs that may be meant by a manifest or by the folder around them', async () => {
    await work.write('rows.jsonl', echoJobs(1));
    await work.call('run', 'rows.jsonl');
    for (const name of ['rows.jsonl', '.'])
      expect(await work.call('status', name)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('\n  a run is in rows.out\n'),
      });
  });

  it('wants a folder with a run in it', async () => {
    expect(await work.call('status', '.')).toMatchObject({
      code: 2,
      stderr: 'error: "." holds no run: there is no journal.jsonl in it\n',
    });
  });
});
