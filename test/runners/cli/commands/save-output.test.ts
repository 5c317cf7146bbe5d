import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveHttp } from '../../../support/loopback-server.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

const all = ['video_url', 'audio_url', 'document_url', 'archive_url'].flatMap((name) => [
  '--save-output',
  `output.${name}`,
]);

describe('millrace run --save-output', () => {
  let work: Rehearsal;
  let faultOf: (nth: number) => string;
  let downloads: number;
  beforeEach(async () => {
    downloads = 0;
    faultOf = () => '';
    work = await openRehearsal({
      faultOf: ({ operation }) => (operation === 'picture' ? faultOf(++downloads) : ''),
    });
    await work.write('jobs.jsonl', [
      JSON.stringify({ id: 'a', endpoint: 'sample-files', input: { seconds: 20, text: 'one' } }),
      JSON.stringify({ id: 'b', endpoint: 'sample-files', input: { text: 'two' } }),
    ]);
  });
  afterEach(() => work.close());
  const run = (...args: string[]) => work.call('run', 'jobs.jsonl', '--yes', ...args);
  const file = (name: string) => readFile(join(work.folder, 'jobs.out', 'files', name));
  const results = async () =>
    (await readFile(join(work.folder, 'jobs.out', 'results.jsonl'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; files: { path: string; sha256: string }[] });

  it('saves a video, a sound, a PDF and an archive of each row, whole and valid', async () => {
    const { code, stderr } = await run(...all);
    expect(code).toBe(0);
    expect(stderr).toContain('saves        output.video_url, output.audio_url');
    expect((await readdir(join(work.folder, 'jobs.out', 'files'))).sort()).toEqual(
      ['a', 'b'].flatMap((id) => [`${id}.webm`, `${id}~2.wav`, `${id}~3.pdf`, `${id}~4.zip`]),
    );
    for (const { files } of await results())
      for (const { path, sha256 } of files) {
        const bytes = await readFile(join(work.folder, 'jobs.out', path));
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      }
    expect((await file('a~2.wav')).length).toBe(44 + 20 * 4 * 44_100);
    expect((await file('b~3.pdf')).toString('latin1')).toContain('(two)');
    const zip = join(work.folder, 'jobs.out', 'files', 'b~4.zip');
    const unpack =
      'import sys, zipfile; sys.stdout.write(zipfile.ZipFile(sys.argv[1]).read("text.txt").decode())';
    expect(execFileSync('python3', ['-c', unpack, zip]).toString()).toBe('two');
  });

  it('goes on where the connection broke: a long sound costs no second download of its beginning', async () => {
    await work.write('jobs.jsonl', [
      JSON.stringify({ id: 'a', endpoint: 'sample-files', input: { seconds: 30 } }),
    ]);
    faultOf = (nth) => (nth <= 2 ? 'cut' : '');
    const { code } = await run('--save-output', 'output.audio_url', '--retries', '0');
    expect(code).toBe(0);
    expect(downloads).toBe(3);
    const [row] = await results();
    const bytes = await file('a.wav');
    expect(bytes.length).toBe(44 + 30 * 4 * 44_100);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(row?.files[0]?.sha256);
  });

  it('goes on after kill -9 where the download was, and leaves nothing but the file [fault 15]', async () => {
    const film = Buffer.alloc(48 << 20, 7);
    film.write('\0\0\0\x18ftypisom\0\0\0\0isomiso2', 'latin1');
    const asked: number[] = [];
    await using host = await serveHttp((request, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const range = { 'content-range': `bytes ${from}-${film.length - 1}/${film.length}` };
      const headers = { etag: '"v1"', 'content-length': film.length - from, ...(from > 0 && range) };
      response.writeHead(from > 0 ? 206 : 200, headers);
      // The first one gets no more than this.
      if (asked.push(from) === 1) response.write(film.subarray(0, 40 << 20));
      else response.end(film.subarray(from));
    });
    await work.close();
    work = await openRehearsal({ functions: { queue: { make: () => ({ film: `${host.url}/a.mp4` }) } } });
    await work.write('jobs.jsonl', [JSON.stringify({ id: 'a', endpoint: 'make', input: {} })]);
    const args = ['run', 'jobs.jsonl', '--yes', '--save-output', 'output.film'];
    const folder = join(work.folder, 'jobs.out', 'files');
    const names = () => readdir(folder).catch((): string[] => []);
    const first = work.start(...args);
    await until(async () => (await names()).some((name) => name.endsWith('.note')));
    first.child.kill('SIGKILL');
    await first.ended;
    const { code, stdout } = await work.call(...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}files .* files, report\.html$/m);
    expect(asked[0]).toBe(0);
    expect(asked[1]).toBeGreaterThanOrEqual(32 << 20);
    expect(await names()).toEqual(['a.mp4']);
    expect((await file('a.mp4')).equals(film)).toBe(true);
    expect(work.emulator.bill()).toHaveLength(1);
  }, 60_000);

  it('leaves a row with an expired link as paid and not downloaded, and takes it up later [fault 32]', async () => {
    faultOf = () => '403';
    const first = await run('--save-output', 'output.video_url');
    expect(first.code).toBe(1);
    expect(first.stdout + first.stderr).toMatch(/2 +still to be downloaded/);
    faultOf = () => '';
    expect((await run()).code).toBe(0);
    expect(work.emulator.bill()).toHaveLength(2);
    expect((await file('a.webm')).subarray(0, 4)).toEqual(Buffer.from([0x1a, 0x45, 0xdf, 0xa3]));
  });

  it('refuses a path with a guess, before anything is written, and prints paths in a plan', async () => {
    const wrong = await run('--save-output', 'video_url');
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean output.video_url?') as string,
    });
    expect(await readdir(work.folder)).not.toContain('jobs.out');
    const plan = await work.call('plan', 'jobs.jsonl', '--save-output', 'output.video_url', '--json');
    expect(JSON.parse(plan.stdout)).toMatchObject({ start: { saves: ['output.video_url'] } });
    const words = await work.call('plan', 'jobs.jsonl', '--save-output', 'output.video_url');
    expect(words.stdout).toMatch(/saves +output\.video_url/);
    await run('--save-output', 'output.video_url', '--limit', '1');
    expect((await work.call('plan', 'jobs.jsonl')).stdout).toMatch(/saves +output\.video_url/);
  });

  it('downloads for rows that had completed what is asked for later, and says so', async () => {
    await run('--save-output', 'output.video_url');
    const more = await run('--save-output', 'output.video_url', '--save-output', 'output.files[3].url');
    expect(more.code).toBe(0);
    expect(more.stdout + more.stderr).toContain('2 completed rows have files');
    expect((await readdir(join(work.folder, 'jobs.out', 'files'))).sort()).toEqual([
      ...['a.webm', 'a~2.zip', 'b.webm', 'b~2.zip'],
    ]);
    expect(work.emulator.bill()).toHaveLength(2);
  });
});
