import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drawPicture } from '../../../support/draw-picture.js';
import { mainFile, millrace } from '../../../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

describe('run - --follow', () => {
  let work: Rehearsal;
  const children: ChildProcessWithoutNullStreams[] = [];
  beforeEach(async () => {
    work = await openRehearsal({ workers: 50 });
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await work.close();
  });

  function follow(...args: string[]) {
    const child = spawn(process.execPath, [mainFile, 'run', '-', '--follow', '--out', 'o', ...args], {
      cwd: work.folder,
      env: { ...process.env, ...work.env },
    });
    children.push(child);
    child.stdin.on('error', () => undefined);
    const ended = once(child, 'exit');
    const reported: { id: string; status?: string; error?: { code: string; paid: string } }[] = [];
    const feed = (...rows: (object | string)[]) =>
      child.stdin.write(
        rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''),
      );
    const read = () =>
      createInterface({ input: child.stdout }).on('line', (line) =>
        reported.push(JSON.parse(line) as (typeof reported)[0]),
      );
    return { child, ended, reported, feed, read };
  }
  /** In this process, with rows that are all there. */
  const call = (rows: readonly object[], ...args: string[]) =>
    millrace(['run', '-', '--follow', '--out', 'o', ...args], {
      cwd: work.folder,
      env: work.env,
      input: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    });
  const job = (n: number, input: object = {}) => ({ id: `j${n}`, endpoint: 'echo', input: { n, ...input } });
  const bought = () => work.emulator.bill().filter(({ operation }) => operation === 'run');

  it('works rows as they arrive, tells bad ones as failures, ends with stdin, and knows rows that are fed again', async () => {
    const first = follow();
    first.read();
    first.feed(job(1));
    await until(() => first.reported.length === 1);
    first.feed('{"id":"half', '', job(2, { fail: 'no' }), job(1), job(1, { other: true }));
    await until(() => first.reported.length === 4);
    first.child.stdin.end();
    expect(await first.ended).toEqual([1, null]);
    // What was wrong comes back under the id that its feeder knows.
    expect(
      first.reported.filter(({ id }) => id === 'j1').map(({ status, error }) => status ?? error?.code),
    ).toEqual(['completed', 'invalid-row']);
    expect(first.reported.map(({ status, error }) => status ?? error?.code).sort()).toEqual([
      'completed',
      'invalid-row',
      'invalid-row',
      'job-failed',
    ]);
    const second = follow();
    second.read();
    second.feed(job(1), job(2, { fail: 'no' }), job(3));
    second.child.stdin.end();
    expect(await second.ended).toEqual([0, null]);
    await until(() => second.reported.length === 3);
    expect(second.reported.map(({ id }) => id).sort()).toEqual(['j1', 'j2', 'j3']);
    expect(bought()).toHaveLength(3);
    expect(await work.lines('o/failures.jsonl')).toHaveLength(3);
  });

  it('sends nothing where the folder is gone in which it had bought something, unless that is agreed to', async () => {
    expect((await call([job(1, { fail: 'no' })])).code).toBe(1);
    await rename(join(work.folder, 'o'), join(work.folder, 'before'));
    // A failed job has cost nothing.
    expect((await call([job(2)])).code).toBe(0);
    await rename(join(work.folder, 'o'), join(work.folder, 'unmounted'));
    const again = await call([job(2)]);
    expect(again.code).toBe(2);
    const words = `--follow: rows that arrive may ask for what may have been bought already, in ${join(work.folder, 'o')}, whose journal is gone`;
    expect(again.stderr).toContain(words);
    expect(again.stderr).toContain('put that folder back, or begin anew with --yes; nothing was sent');
    expect(bought()).toHaveLength(2);
    expect((await call([job(2)], '--yes')).code).toBe(0);
    expect((await call([job(3)])).code).toBe(0);
    expect(bought()).toHaveLength(4);
  });

  it('reads no further while nobody reads what it says', async () => {
    const rows = 120;
    const { child, feed, read, reported, ended } = follow('--quiet');
    const text = 'x'.repeat(10_000);
    for (let n = 0; n < rows; n++) feed(job(n, { text }));
    child.stdin.end();
    let [last, same] = [0, 0];
    await until(() => {
      const now = bought().length;
      same = now === last && now > 0 ? same + 1 : 0;
      last = now;
      return same === 40;
    });
    expect(last).toBeLessThan(rows / 2);
    expect(child.stdin.writableLength).toBeGreaterThan(0);
    read();
    expect(await ended).toEqual([0, null]);
    await until(() => reported.length === rows);
    expect(new Set(reported.map(({ id }) => id)).size).toBe(rows);
  });

  it('is killed, fed all again, and pays nothing twice, tells every row', async () => {
    const rows = Array.from({ length: 40 }, (_, n) => job(n, { sleepMs: 20 }));
    const first = follow('--concurrency', '4');
    first.read();
    first.feed(...rows);
    await until(() => first.reported.length > 10);
    first.child.kill('SIGKILL');
    await first.ended;
    const second = follow('--concurrency', '16');
    second.read();
    second.feed(...rows);
    second.child.stdin.end();
    const [code] = (await second.ended) as [number];
    await until(() => second.reported.length >= rows.length);
    const unknown = second.reported.filter(({ error }) => error?.code === 'unknown');
    expect(code).toBe(unknown.length > 0 ? 6 : 0);
    expect(new Set(second.reported.map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
    const paid = bought().length;
    expect(paid).toBeGreaterThanOrEqual(rows.length - unknown.length);
    expect(paid).toBeLessThanOrEqual(rows.length);
  });

  it('stops gracefully at SIGINT while it waits for rows, and when nobody is left to read', async () => {
    const first = follow();
    first.read();
    first.feed(job(1));
    await until(() => first.reported.length === 1);
    first.child.kill('SIGINT');
    expect(await first.ended).toEqual([130, null]);
    const second = follow();
    second.child.stdout.destroy();
    second.feed(job(2), job(3));
    expect(await second.ended).toEqual([130, null]);
  });

  it('says that no row has arrived, and of rows that are fed again that they had ended', async () => {
    expect((await call([])).stderr).toContain('Nothing to do: no row has arrived.\n');
    await call([job(1)]);
    expect((await call([job(1)])).stderr).toContain('Nothing to do: every row had ended before.\n');
  });

  it('takes no option that needs the whole manifest', async () => {
    const { code, stderr } = await call([], '--limit', '3', '--format', 'csv', '--json');
    expect(code).toBe(2);
    expect(stderr).toContain('error: --limit: does not go with --follow\n');
    expect(stderr).toContain('error: --format: --follow reads NDJSON, one object a line\n');
  });

  describe('rows that have a price', () => {
    beforeEach(async () => {
      const picture = await drawPicture({ subject: 0, width: 64, height: 64 });
      await writeFile(join(work.folder, 'mug.png'), picture);
    });
    const edit = (n: number) => ({
      id: `e${n}`,
      endpoint: 'image-edit',
      images: [work.emulator.fileUrl('mug.png')],
      prompt: 'grayscale',
    });
    it('need a cap or --yes, said at the start where the options name their kind', async () => {
      const { code, stderr } = await call([], '--kind', 'edit', '--endpoint', 'image-edit');
      expect(code).toBe(2);
      expect(stderr).toContain('error: --follow: a row of this kind costs $0.0875');
      expect(stderr).toContain('--max-cost');
      expect(work.emulator.bill()).toEqual([]);
    });

    it('stop the run unsent as soon as one arrives', async () => {
      const first = await call([edit(1)]);
      expect(first.code).toBe(2);
      expect(first.stderr).toContain('row "e1" costs $0.0875, and nobody has agreed to it');
      const second = follow();
      second.read();
      second.feed(job(1));
      await until(() => second.reported.length === 1);
      second.feed(edit(1));
      expect(await second.ended).toEqual([3, null]);
      expect(work.emulator.bill().filter(({ operation }) => operation === 'runsync')).toEqual([]);
    });

    it.each([['--yes'], ['--max-cost', '1', '--assume-price', '0.01']])(
      'are sent with %s',
      async (...given) => {
        const { code, stdout } = await call([edit(1)], ...given);
        expect(code).toBe(0);
        expect(stdout.trim().split('\n')).toHaveLength(1);
      },
    );
  });
});
