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
    const json = await work.call('status', 'rows.out', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      isRunning: false,
      exitCode: 1,
      rows: { total: 3, completed: 2, failed: 1 },
    });
    expect(await work.everything('rows.out')).toEqual(before);
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
    expect(stdout).toContain('  on the way   1 accepted\n');
    run.child.kill('SIGKILL');
    await run.ended;
    expect((await work.call('status', 'rows.out')).stdout).toContain('was cut off: run again to go on');
  });

  it('wants a folder with a run in it', async () => {
    expect(await work.call('status', '.')).toMatchObject({
      code: 2,
      stderr: 'error: "." holds no run: there is no journal.jsonl in it\n',
    });
  });
});
