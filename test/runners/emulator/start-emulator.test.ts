import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { EmulatorOptionError, startEmulator, type EmulatorOptions } from '../../../runners/emulator/index.js';
import { asking } from '../../support/ask-emulator.js';
import { manualClock } from '../../support/manual-clock.js';

describe('startEmulator', () => {
  it('listens on a free port of this machine, with a key of its own or the given one', async () => {
    const [one, other] = [await startEmulator(), await startEmulator({ key: 'secret-1' })];
    expect(one.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(one.baseUrl).not.toBe(other.baseUrl);
    expect([one.apiKey, other.apiKey]).toEqual(['millrace-emulator-key', 'secret-1']);
    expect((await asking(other).get('/v2/echo/health')).status).toBe(200);
    expect((await asking({ ...other, apiKey: one.apiKey }).get('/v2/echo/health')).status).toBe(401);
    await Promise.all([one.close(), other.close()]);
  });

  it('takes the port it is told, and rejects when that is taken', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const { port } = blocker.address() as AddressInfo;
    await expect(startEmulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => blocker.close(resolve));
    const emulator = await startEmulator({ port });
    expect(emulator.baseUrl).toBe(`http://127.0.0.1:${port}`);
    await emulator.close();
  });

  it.each([
    [{ workers: 0 }, /workers takes a whole number from 1/],
    [{ workers: 1.5 }, /workers takes/],
    [{ latency: 'soon' }, /latency "soon"/],
    [{ faults: 'x=1' }, /fault "x=1"/],
    [{ rateLimit: 'x' }, /rate limit "x"/],
    [{ rateLimit: 0 }, /rate limit "0"/],
    [{ functions: {} }, /options\.functions exports neither/],
    [{ latency: { mean: 5 } }, /latency takes ms, text, or/],
    [{ latency: -1 }, /latency "-1"/],
    [{ faults: { cut: 1 } }, /faults takes text/],
    [{ fault: 'cut=1' }, /^fault is not an option of the emulator: port, host/],
  ])('refuses %o before it listens', async (options, message) => {
    const failed = startEmulator(options as EmulatorOptions);
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toBeInstanceOf(EmulatorOptionError);
  });

  it('takes a number as the ms of its latency', async () => {
    const emulator = await startEmulator({ latency: 1 });
    const reply = await asking(emulator).post('/v2/echo/runsync', { input: { text: 'a' } });
    expect(reply.json).toMatchObject({ status: 'COMPLETED', output: { echo: { text: 'a' } } });
    await emulator.close();
  });

  it('closes at once: work stops, connections end, no timer and no file stays', async () => {
    const clock = manualClock();
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('millrace-emulator-'));
    const aborted: boolean[] = [];
    const patient = (_input: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise(() => signal.addEventListener('abort', () => aborted.push(true)));
    const emulator = await startEmulator({
      clock,
      functions: { queue: { patient } },
      coldStartMs: 0,
      maxJobs: 1,
    });
    const { post, until, run } = asking(emulator);
    const waiting = post('/v2/patient/runsync', { input: {} }).catch((error: unknown) => error);
    await run('echo', { sleepMs: 10_000 });
    await until('patient', { inProgress: 1 });
    await emulator.close();
    expect(await waiting).toBeInstanceOf(Error);
    expect(aborted).toEqual([true]);
    expect(clock.pending()).toBe(0);
    await emulator.close();
    const after = readdirSync(tmpdir()).filter((name) => name.startsWith('millrace-emulator-'));
    expect(
      after.filter((name) => !before.includes(name) && existsSync(`${tmpdir()}/${name}/bill.jsonl`)),
    ).toEqual([]);
  });

  it('does not load sharp before a picture is made', () => {
    const script = `import('./dist/runners/emulator/index.js').then(async ({ startEmulator }) => {
      const emulator = await startEmulator();
      const loaded = process.report.getReport().sharedObjects.filter((path) => /sharp|vips/.test(path));
      console.log(JSON.stringify(loaded));
      await emulator.close();
    })`;
    const root = new URL('../../../', import.meta.url);
    expect(execFileSync(process.execPath, ['-e', script], { cwd: root, encoding: 'utf8' }).trim()).toBe('[]');
  });
});
