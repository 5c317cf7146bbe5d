import { copyFile, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { serveHttp } from '../../../support/loopback-server.js';
import { millrace } from '../../../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { startS3Server, type S3Server } from '../../../support/s3-server.js';

describe('run --upload', () => {
  let work: Rehearsal;
  let store: S3Server;
  beforeEach(async () => {
    work = await openRehearsal();
    store = await startS3Server();
    await draw('a.png', 'red');
    await draw('same.png', 'red');
    await draw('b.png', 'blue');
  });
  afterEach(async () => {
    await store[Symbol.asyncDispose]();
    await work.close();
  });

  const draw = (name: string, background: string) =>
    sharp({ create: { width: 48, height: 40, channels: 3, background } }).toFile(join(work.folder, name));
  const call = (...args: string[]) =>
    millrace([...args, '--endpoint', 'image-edit', '--upload-endpoint', store.url], {
      cwd: work.folder,
      env: { ...work.env, ...store.env },
    });
  const puts = () => store.requests.filter((request) => request.startsWith('PUT'));

  it('uploads each picture once for its content, over all starts, and the service fetches it by a presigned address', async () => {
    await work.write('edits.csv', [
      'id,images,prompt',
      'one,a.png,grayscale',
      'two,a.png b.png,collage',
      'three,./same.png,blur',
    ]);
    const upload = ['--upload', 's3://pictures/batch/1'];
    const { code, stderr } = await call('run', 'edits.csv', ...upload, '--limit', '2');
    expect(stderr).not.toContain('error');
    expect(code).toBe(0);
    expect(await call('run', 'edits.csv', ...upload)).toMatchObject({ code: 0 });
    expect(puts()).toHaveLength(2);
    expect(puts()[0]).toMatch(/^PUT \/pictures\/batch\/1\/[0-9a-f]{64}\.png$/);
    const results = await work.lines('edits.out/results.jsonl');
    expect(results.map(({ id }) => id).sort()).toEqual(['one', 'three', 'two']);
    const one = results.find(({ id }) => id === 'one');
    expect(one).toMatchObject({
      request: {
        input: { images: [expect.stringMatching(/^s3:\/\/pictures\/batch\/1\/\w{64}\.png#a\.png$/)] },
      },
    });
    const files = await work.everything('edits.out');
    for (const [name, text] of files) expect(text, name).not.toMatch(/X-Amz|Signature|S3RVER/i);
    const again = await call('run', 'edits.csv', ...upload);
    expect(again.stderr).toContain('0 rows to send, 3 ended before');
  });

  it('does not buy again what was bought where a copy of the folder lies, with the same pictures', async () => {
    await work.write('edits.csv', ['id,images,prompt', 'one,a.png,grayscale', 'two,b.png,blur']);
    const upload = ['--upload', 's3://pictures', '--same', 'refuse'];
    expect(await call('run', 'edits.csv', ...upload)).toMatchObject({ code: 0 });
    await mkdir(join(work.folder, 'copy'));
    for (const name of ['edits.csv', 'a.png', 'b.png'])
      await copyFile(join(work.folder, name), join(work.folder, 'copy', name));
    await draw('copy/b.png', 'green');
    const { code, stderr } = await call('run', 'copy/edits.csv', ...upload);
    expect(stderr).toMatch(/line 2 .*asks for what was bought already, in .*edits\.out/);
    expect(stderr).not.toContain('id "two"');
    expect(code).toBe(2);
    expect(work.emulator.bill()).toHaveLength(2);
  });

  it('refuses what is no picture of the folder before anything is sent, with row, line and column', async () => {
    await writeFile(join(work.folder, 'text.png'), 'no picture');
    await draw('big.png', 'red');
    await truncate(join(work.folder, 'big.png'), 30_000_001);
    await symlink('/etc', join(work.folder, 'up'));
    await work.write('edits.csv', [
      'id,prompt,images',
      'ok,p,a.png',
      'text,p,text.png',
      'big,p,big.png',
      'out,p,../other/a.png',
      'link,p,up/hostname',
      'gone,p,a.png nowhere.png',
    ]);
    const { code, stderr } = await call('run', 'edits.csv', '--upload', 's3://pictures');
    for (const line of [
      'edits.csv, line 3 (row 2, id "text"), column images: image 1: "text.png" is not a picture',
      'edits.csv, line 4 (row 3, id "big"), column images: image 1: "big.png" is larger than 30000000 bytes',
      'edits.csv, line 5 (row 4, id "out"), column images: image 1: "../other/a.png" leads outside the folder',
      '  1 other row is like it: line 6',
      'edits.csv, line 7 (row 6, id "gone"), column images: image 2: "nowhere.png" does not exist',
    ])
      expect(stderr).toContain(line);
    expect(code).toBe(2);
    expect(store.requests).toEqual([]);
    expect(work.emulator.bill()).toEqual([]);
  });

  it('stops where the store takes nothing, and has bought nothing', async () => {
    await work.write('edits.csv', ['id,images,prompt', 'one,a.png,grayscale', 'two,b.png,grayscale']);
    const { code, stdout, stderr } = await call('run', 'edits.csv', '--upload', 's3://nobucket');
    expect(stdout + stderr).toMatch(
      /pictures cannot be uploaded to s3:\/\/nobucket \(.*none of them has been paid for/,
    );
    expect(code).toBe(4);
    expect(work.emulator.bill()).toEqual([]);
    expect(await work.json('edits.out/summary.json')).toMatchObject({ rows: { toDo: 2 } });
  });

  it('says what to do with a path where nothing makes an address of it', async () => {
    await work.write('edits.csv', ['id,images,prompt', 'one,a.png,grayscale']);
    const { code, stderr } = await work.call('run', 'edits.csv', '--endpoint', 'image-edit');
    expect(stderr).toContain(
      '"a.png" is a path: say where pictures lie with --images-base URL, upload them with --upload s3://bucket/prefix, rehearse with --local',
    );
    expect(code).toBe(2);
  });

  it('masks the signature of a picture in all that is printed and written about its job, by whichever command', async () => {
    await work.write('edits.csv', ['id,images,prompt', 'one,a.png,grayscale']);
    let url = '';
    let answer: (address: string) => { status: number; body: object } = () => ({ status: 500, body: {} });
    const service = await serveHttp((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const [found] = /http:[^"]+/.exec(Buffer.concat(parts).toString()) ?? [];
        url = found ?? url;
        if (request.method === 'POST') return void request.socket.destroy();
        const { status, body } = answer(url);
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
      });
    });
    onTestFinished(() => service[Symbol.asyncDispose]());
    const env = { ...work.env, ...store.env, MILLRACE_BASE_URL: service.url };
    const called = (...args: string[]) => millrace(args, { cwd: work.folder, env });
    const upload = ['--upload', 's3://pictures/in', '--upload-endpoint', store.url];
    const run = () => called('run', 'edits.csv', '--endpoint', 'image-edit', ...upload);
    expect(await run()).toMatchObject({ code: 6 });
    const signature = /X-Amz-Signature=(\w{64})/.exec(url)?.[1] ?? 'none';

    answer = (address) => ({ status: 400, body: { error: `no job for ${address}` } });
    const refused = await called('settle', 'edits.out', 'one', '--job', 'job-1');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no job for http') as string });
    const settled = await called('settle', 'edits.out', 'one', '--job', 'job-1', '--yes');
    expect(settled.code).toBe(0);
    const beside = url.replace('/pictures/in/', '/pictures/out/in/').replace(signature, 'e1'.repeat(32));
    answer = (address) => ({
      status: 200,
      body: { id: 'job-1', status: 'COMPLETED', output: { of: address, beside, cost: 0.01 } },
    });
    const ended = await run();
    const [result] = await work.lines('edits.out/results.jsonl');
    expect(result).toMatchObject({ output: { of: url.replace(signature, '[redacted]'), beside } });
    await called('report', 'edits.out');
    for (const [name, text] of await work.everything('edits.out'))
      expect(text, name).not.toContain(signature);
    for (const { stdout, stderr } of [refused, settled, ended])
      expect(stdout + stderr).not.toContain(signature);
  });

  it('is tested by plan --check, and a dead store is named', async () => {
    await work.write('edits.csv', ['id,images,prompt', 'one,a.png,grayscale']);
    const args = [
      'plan',
      'edits.csv',
      '--endpoint',
      'image-edit',
      '--check',
      '--upload',
      's3://pictures/batch',
    ];
    const plan = (endpoint: string) =>
      millrace([...args, '--upload-endpoint', endpoint], {
        cwd: work.folder,
        env: { ...work.env, ...store.env },
      });
    const alive = await plan(store.url);
    expect({ code: alive.code, stderr: alive.stderr }).toEqual({ code: 0, stderr: '' });
    expect(alive.stdout).toContain('  upload       s3://pictures: it answers\n');
    const dead = await plan('http://127.0.0.1:9');
    expect(dead.code).toBe(4);
    expect(dead.stdout).toContain('  upload       s3://pictures: cannot be used\n');
    expect(dead.stderr).toContain('--upload s3://pictures: ');
  });
});
