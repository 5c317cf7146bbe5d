import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { serveQueue } from '../../../support/queue-server.js';
import { startMillrace } from '../../../support/millrace.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-heap-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const rows = 60;
const megabytes = 4;

it(
  'ends with large results in a small heap, after jobs ended while it was away',
  { timeout: 300_000 },
  async () => {
    let areDone = false;
    const big = `"output":{"big":"${'x'.repeat(megabytes * 1e6)}"}`;
    await using server = await serveQueue({
      answer: (request, response) => {
        if (request.method !== 'GET' || !areDone) return false;
        response.setHeader('content-type', 'application/json');
        response.end(`{"id":"${request.url!.split('/').at(-1)}","status":"COMPLETED",${big}}`);
        return true;
      },
      polls: Infinity,
    });
    const manifest = join(folder, 'jobs.jsonl');
    const row = (at: number) => `${JSON.stringify({ id: `r${at}`, endpoint: 'echo', input: { at } })}\n`;
    writeFileSync(manifest, Array.from({ length: rows }, (_, at) => row(at)).join(''));
    const env = {
      MILLRACE_API_KEY: 'key-0123456789',
      MILLRACE_BASE_URL: server.url,
      XDG_STATE_HOME: join(folder, 'state'),
      NODE_OPTIONS: '--max-old-space-size=192',
    };
    const run = () => startMillrace(['run', manifest, '--concurrency', '60', '--yes'], { cwd: folder, env });
    const first = run();
    await expect.poll(() => new Set(server.polls).size, { timeout: 60_000 }).toBe(rows);
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(130);
    areDone = true;
    const { code, stderr } = await run().ended;
    expect(code, stderr.slice(-2_000)).toBe(0);
    expect(server.posts).toHaveLength(rows);
    const ids = [...readFileSync(join(folder, 'jobs.out/costs.csv'), 'utf8').matchAll(/^r\d+/gm)].map(
      ([id]) => id,
    );
    expect(new Set(ids).size).toBe(rows);
  },
);
