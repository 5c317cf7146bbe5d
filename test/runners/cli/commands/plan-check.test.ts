import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closedPort, serveHttp, type LoopbackServer } from '../../../support/loopback-server.js';
import { millrace } from '../../../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('millrace plan --check', () => {
  let work: Rehearsal;
  let pictures: LoopbackServer;
  let asked: string[];
  beforeEach(async () => {
    work = await openRehearsal();
    asked = [];
    pictures = await serveHttp((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
      const { url, method } = request;
      if (url === '/there.png') response.writeHead(200, { 'content-type': 'image/png' }).end();
      else if (url === '/page') response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end();
      else if (url === '/signed.png' && method === 'GET') response.writeHead(206).end('x');
      else response.writeHead(url === '/signed.png' ? 403 : 404).end();
    });
  });
  afterEach(async () => {
    await pictures[Symbol.asyncDispose]();
    await work.close();
  });

  const manifest = (name: string, images: readonly string[]) =>
    work.write(name, [
      'id,images,prompt',
      ...images.map((image, n) => `r${n},${pictures.url}${image},grayscale`),
    ]);

  it('finds key, endpoint and references well, asks for each once, and buys nothing', async () => {
    await manifest('edits.csv', ['/there.png', '/signed.png', '/there.png']);
    const { code, stdout, stderr } = await work.call(
      'plan',
      'edits.csv',
      '--endpoint',
      'image-edit',
      '--check',
    );
    expect(stdout).toMatch(
      /\n {2}endpoint {5}image-edit: 0 of 4 workers busy, 0 jobs in its queue\n {2}references {3}2 addresses tested, all there\n$/,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(asked.sort()).toEqual(['GET /signed.png ', 'HEAD /signed.png ', 'HEAD /there.png ']);
    expect(work.emulator.bill()).toEqual([]);
  });

  it('names each row whose reference is not there, and exits 1', async () => {
    await manifest('edits.csv', ['/there.png', '/gone.png', '/page', '/gone.png']);
    const { code, stderr } = await work.call(
      'plan',
      'edits.csv',
      '--endpoint',
      'image-edit',
      '--check',
      '--quiet',
    );
    expect(stderr.trimEnd().split('\n')).toEqual([
      `edits.csv, line 3: row r1: ${pictures.url}/gone.png answers HTTP 404`,
      `edits.csv, line 4: row r2: ${pictures.url}/page is not a picture, but text/html`,
      `edits.csv, line 5: row r3: ${pictures.url}/gone.png answers HTTP 404`,
    ]);
    expect(code).toBe(1);
    const { stdout } = await work.call('plan', 'edits.csv', '--endpoint', 'image-edit', '--check', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      rows: 4,
      check: {
        endpoints: { 'image-edit': { state: 'up' } },
        references: { tested: 3, dead: 3, first: [{ row: 2, line: 3, id: 'r1' }, {}, {}] },
      },
    });
  });

  it('exits 4 for a key that is refused and where no endpoint is there, 69 where nobody answers', async () => {
    await manifest('edits.csv', ['/there.png']);
    const call = (args: string[], env: Record<string, string> = {}) =>
      millrace(['plan', 'edits.csv', '--check', ...args], { cwd: work.folder, env: { ...work.env, ...env } });
    const [refused, gone, nobody, keyless] = await Promise.all([
      call(['--endpoint', 'image-edit'], { MILLRACE_API_KEY: 'another-key-of-ours' }),
      call(['--endpoint', 'none-such']),
      call(['--endpoint', 'image-edit', '--base-url', `http://127.0.0.1:${await closedPort()}`]),
      call(['--endpoint', 'image-edit'], { MILLRACE_API_KEY: '' }),
    ]);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(
      'endpoint image-edit (1 row): the key is refused; look at MILLRACE_API_KEY',
    );
    expect(refused.stderr + refused.stdout).not.toContain('another-key-of-ours');
    expect(gone.code).toBe(4);
    expect(gone.stderr).toContain(
      'endpoint none-such (1 row): there is no such endpoint; look at --endpoint',
    );
    expect(nobody.code).toBe(69);
    expect(nobody.stderr).toContain('the service does not answer; look at --base-url');
    expect(keyless.code).toBe(2);
    expect(work.emulator.bill()).toEqual([]);
  });

  it('asks nobody where a row is to be corrected first, and needs no service with --local', async () => {
    await work.write('bad.csv', ['id,images,prompt', `a,${pictures.url}/there.png,`]);
    expect((await work.call('plan', 'bad.csv', '--endpoint', 'image-edit', '--check')).code).toBe(2);
    expect(asked).toEqual([]);
    await manifest('edits.csv', ['/there.png']);
    const { code } = await millrace(['plan', 'edits.csv', '--endpoint', 'image-edit', '--check', '--local'], {
      cwd: work.folder,
    });
    expect(code).toBe(0);
    expect(asked).toEqual(['HEAD /there.png ']);
  });
});
