import { execFileSync, spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { mainFile, millrace, type MillraceProcess } from '../../../support/millrace.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { skipTest } from '../../../support/skip-test.js';
import { until } from '../../../support/until.js';

describe('millrace run, when it is told to stop', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
  });
  afterEach(() => work.close());

  /** A run whose only row has been accepted, and is answered so much later. */
  const startWithReply = async (sleepMs: number) => {
    await work.write('rows.jsonl', echoJobs(1, { sleepMs }));
    const first = work.start('run', 'rows.jsonl', '--mode', 'sync');
    await until(() => work.emulator.bill().length === 1);
    return first;
  };

  /** A run that was interrupted, and got `next` before the time was over within which a further SIGINT is the same. */
  const interruptedAnd = async (
    context: TestContext,
    next: (first: MillraceProcess) => Promise<unknown>,
    begin = () => startWithReply(3_000),
  ): Promise<MillraceProcess> => {
    for (let tries = 0; tries < 8; tries++) {
      const first = await begin();
      const interrupted = performance.now();
      first.child.kill('SIGINT');
      await next(first);
      if (performance.now() - interrupted < 180) return first;
      first.child.kill('SIGKILL');
      await first.ended;
      await work.close();
      work = await openRehearsal();
    }
    return skipTest(context, 'a second SIGINT that is the same one: this machine takes longer to send it');
  };

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    'stops in good order at %s with %i, and goes on with nothing sent twice',
    async (signal, exitCode) => {
      await work.write('rows.jsonl', echoJobs(40, { sleepMs: 400 }));
      const first = work.start('run', 'rows.jsonl', '--concurrency', '4');
      await until(() => work.emulator.bill().filter(({ status }) => status === 'COMPLETED').length >= 6);
      first.child.kill(signal);
      const { code, stdout, stderr } = await first.ended;
      expect({ code }).toEqual({ code: exitCode });
      expect(stderr).toContain('stopping: ');
      expect(stdout).toContain('  to go ');
      expect(work.emulator.bill().length).toBeLessThan(40);
      expect((await work.call('run', 'rows.jsonl', '--concurrency', '40')).code).toBe(0);
      const sent = work.emulator.bill().map(({ input }) => (input as { n: number }).n);
      expect(sent).toHaveLength(40);
      expect(new Set(sent).size).toBe(40);
      expect(await work.lines('rows.out/results.jsonl')).toHaveLength(40);
    },
  );

  it('asks once for the jobs of a rehearsal that was stopped: they ended with its emulator', async () => {
    await work.write('rows.jsonl', echoJobs(1, { sleepMs: 60_000 }));
    const first = work.start('run', 'rows.jsonl', '--local');
    await until(
      async () =>
        JSON.parse((await work.call('status', 'rows.local.out', '--json')).stdout || '{}').pending
          ?.accepted === 1,
    );
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(130);
    const again = await millrace(['run', 'rows.jsonl', '--local'], { cwd: work.folder });
    expect(again.stdout).toContain('  1 job ended with the emulator (expired)');
    expect(again.stdout).toContain('millrace run rows.jsonl --out rows.local.out --local --retry expired\n');
    const { statusCalls } = (await work.json('rows.local.out/summary.json')) as { statusCalls: number };
    expect(statusCalls).toBeLessThan(4);
  });

  it('takes a signal that npm passes on for the same one: the reply on its way is awaited [fault 16]', async (context) => {
    const first = await interruptedAnd(context, async ({ child }) => {
      await setTimeout(20);
      child.kill('SIGINT');
    });
    const { code, stdout } = await first.ended;
    expect({ code }).toEqual({ code: 130 });
    expect(stdout).toContain('completed    1 of 1 row');
  });

  it('takes SIGTERM and SIGHUP for one, as a session sends them that ends with its machine: the reply on its way is awaited', async () => {
    const first = await startWithReply(1_500);
    first.child.kill('SIGTERM');
    first.child.kill('SIGHUP');
    const { code, stdout } = await first.ended;
    expect([129, 143]).toContain(code);
    expect(stdout).toContain('completed    1 of 1 row');
  });

  it('takes it for the same one where it is read late, because the process was busy or suspended', async (context) => {
    const first = await interruptedAnd(context, async ({ child, prints }) => {
      await prints('stopping: ');
      child.kill('SIGSTOP');
    });
    first.child.kill('SIGINT');
    await setTimeout(500);
    first.child.kill('SIGCONT');
    const { code, stdout } = await first.ended;
    expect({ code }).toEqual({ code: 130 });
    expect(stdout).toContain('completed    1 of 1 row');
  });

  it('stops at once at a second signal, with a reply still on its way [fault 16]', async () => {
    const first = await startWithReply(60_000);
    first.child.kill('SIGINT');
    await first.prints('stopping: ');
    first.child.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 130, signal: null });
    const [bought] = work.emulator.bill();
    const { code, stdout } = await work.call('run', 'rows.jsonl');
    expect(code).toBe(6);
    expect(stdout).toContain('j0');
    expect(work.emulator.bill()).toMatchObject([{ id: bought!.id }]);
  });

  it('ends a rehearsal at once as well', async () => {
    await work.write('rows.jsonl', echoJobs(1, { sleepMs: 60_000 }));
    const first = work.start('run', 'rows.jsonl', '--local', '--mode', 'sync');
    await first.prints('1 row to send');
    await until(async () =>
      (await work.lines('rows.local.out/journal.jsonl')).some(({ k }) => k === 'intent'),
    );
    first.child.kill('SIGTERM');
    await first.prints('stopping: ');
    first.child.kill('SIGINT');
    expect(await first.ended).toMatchObject({ code: 143, signal: null });
  });

  it.each(['stdout', 'stderr'])(
    'does not stop when the reader of its %s goes away [fault 16]',
    async (name) => {
      await work.write('rows.jsonl', echoJobs(20, { sleepMs: 20 }));
      const redirect = name === 'stdout' ? '2>/dev/null' : '2>&1 >/dev/null';
      const command = `"$NODE" "$MAIN" run rows.jsonl --concurrency 10 ${redirect} | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"`;
      const shell = spawn('bash', ['-c', command], {
        cwd: work.folder,
        env: { ...process.env, NODE: process.execPath, MAIN: mainFile, ...work.env },
      });
      let printed = '';
      shell.stdout.on('data', (chunk) => (printed += String(chunk)));
      await new Promise((resolve) => shell.on('close', resolve));
      expect(printed.trim()).toBe('0');
      expect(await work.lines('rows.out/results.jsonl')).toHaveLength(20);
    },
  );

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'at %s while a command of --on-end runs, has all of it end, and keeps its exit code',
    async (signal) => {
      await work.write('rows.jsonl', echoJobs(1));
      // What it has started has ended as well by the time that it tells.
      const command = `trap 'wait; echo 1 > told; exit 3' TERM; sh -c 'echo begun; sleep 600' & wait`;
      const run = work.start('run', 'rows.jsonl', '--on-end', command);
      await run.prints('begun');
      run.child.kill(signal);
      const { code, stderr } = await run.ended;
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(
          /begun\n(?:.*Terminated.*\n)?warning: --on-end failed: interrupted\n$/,
        ) as string,
      });
      expect(await work.lines('told')).toEqual([1]);
      expect((await work.lines('rows.out/run.log')).at(-1)).toMatchObject({
        level: 'warn',
        msg: '--on-end failed: interrupted',
        output: expect.stringMatching(/^begun/) as string,
      });
    },
  );

  it('takes a signal that npm passes on for the same one when the run has ended meanwhile: --on-end runs to its end', async (context) => {
    const begin = async () => {
      await work.write('rows.jsonl', echoJobs(1, { sleepMs: 60_000 }));
      const run = work.start('run', 'rows.jsonl', '--on-end', 'echo begun; sleep 1; echo over');
      await until(async () => (await work.lines('rows.out/journal.jsonl')).some(({ k }) => k === 'accepted'));
      return run;
    };
    const next = async ({ child, prints }: MillraceProcess) => {
      await prints('begun');
      child.kill('SIGINT');
    };
    const { code, stderr } = await (await interruptedAnd(context, next, begin)).ended;
    expect({ code, stderr }).toEqual({ code: 130, stderr: expect.stringContaining('over\n') as string });
    expect(stderr).not.toContain('interrupted');
  });

  it('leaves nothing behind of a command of --on-end that does not listen to signals', async () => {
    await work.write('rows.jsonl', echoJobs(1));
    const command = `trap '' INT TERM; sleep 600 & echo "group $$."; wait`;
    const run = work.start('run', 'rows.jsonl', '--on-end', command);
    let group = 0;
    run.child.stderr.on('data', (text: string) => (group ||= Number(/group (\d+)\./.exec(text)?.[1] ?? 0)));
    await until(() => group !== 0);
    expect(isThere(group)).toBe(true);
    run.child.kill('SIGINT');
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ code: 0, signal: null });
    expect(isThere(group)).toBe(false);
  });
});

/** Whether a process of the group lives. One that has ended may be listed until its parent asks for it. */
function isThere(group: number): boolean {
  const listed = execFileSync('ps', ['-A', '-o', 'pgid=,stat='], { encoding: 'utf8' });
  return listed.split('\n').some((line) => new RegExp(`^\\s*${group}\\s+[^Z]`).test(line));
}
