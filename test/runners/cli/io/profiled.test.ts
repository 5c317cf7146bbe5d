import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

interface CpuProfile {
  readonly nodes: readonly { readonly callFrame: { readonly functionName: string; readonly url: string } }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

describe('--profile', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
    await work.write('rows.jsonl', echoJobs(20, { sleepMs: 20 }));
  });
  afterEach(() => work.close());

  async function profile(name: string): Promise<CpuProfile> {
    return JSON.parse(await readFile(join(work.folder, name), 'utf8')) as CpuProfile;
  }

  it('writes where the time of a run and of its report went into the folder of the run', async () => {
    const { code, stderr } = await work.call('run', 'rows.jsonl', '--profile');
    expect(code).toBe(0);
    expect(stderr).toContain('profile: rows.out/run.cpuprofile\n');
    const { nodes, samples, timeDeltas } = await profile('rows.out/run.cpuprofile');
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('(root)');
    // Which functions a sample meets is chance; that it meets the run is not.
    expect(nodes.map(({ callFrame }) => callFrame.url)).toContainEqual(
      expect.stringContaining('/runners/batch/'),
    );
    expect(samples.length).toBeGreaterThan(10);
    expect(timeDeltas).toHaveLength(samples.length);
    expect((await work.call('report', 'rows.out', '--profile')).stderr).toBe(
      'profile: rows.out/report.cpuprofile\n',
    );
    await profile('rows.out/report.cpuprofile');
    expect((await work.call('run', 'rows.jsonl')).code).toBe(0);
  });

  it('writes it where a command opens no run, and when a command has failed', async () => {
    expect((await work.call('plan', 'rows.jsonl', '--profile')).stderr).toContain(
      'profile: plan.cpuprofile\n',
    );
    await profile('plan.cpuprofile');
    expect((await work.call('status', 'nowhere', '--profile')).code).toBe(2);
    await profile('status.cpuprofile');
  });

  it('writes it when the run is interrupted', async () => {
    await work.write('rows.jsonl', echoJobs(40, { sleepMs: 100 }));
    const run = work.start('run', 'rows.jsonl', '--concurrency', '4', '--profile');
    await until(() => work.emulator.bill().length >= 6);
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect((await profile('rows.out/run.cpuprofile')).samples.length).toBeGreaterThan(10);
  });
});
