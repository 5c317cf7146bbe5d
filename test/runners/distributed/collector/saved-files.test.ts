import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunTerms } from '../../../../runners/distributed/table/run-terms.js';
import type { WorkerEvent } from '../../../../runners/distributed/worker/run-worker.js';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { openFleet } from '../../../support/fleet.js';
import { serveHttp, type LoopbackServer } from '../../../support/loopback-server.js';
import { startMillrace, type MillraceProcess } from '../../../support/millrace.js';
import { openRunDatabase, rowsOf } from '../../../support/run-database.js';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import { anHourPasses } from '../../../support/time-passes.js';
import { until } from '../../../support/until.js';

/** Longer than what a process may lose at its end. */
const film = Buffer.alloc(48 << 20, 7);
film.write('\0\0\0\x18ftypisom\0\0\0\0isomiso2', 'latin1');
const pdf = Buffer.from('%PDF-1.7\n a page\n%%EOF\n');
const etag = '"v1"';

let database: TestDatabase;
let host: LoopbackServer;
/** Where each request for the film begins. */
let asked: number[];
let isSlow: boolean;
/** Called with the second half of a document that was asked for, to send it. */
let late: (() => void)[];
beforeAll(async () => {
  database = await openDatabase();
  host = await serveHttp((request, response) => {
    if (request.url === '/a.pdf') return void response.end(pdf);
    if (request.url === '/late.pdf') {
      response.write(pdf.subarray(0, 12));
      return void late.push(() => response.end(pdf.subarray(12)));
    }
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    asked.push(from);
    const range = `bytes ${from}-${film.length - 1}/${film.length}`;
    const headers = {
      etag,
      'content-length': film.length - from,
      ...(from > 0 && { 'content-range': range }),
    };
    response.writeHead(from > 0 ? 206 : 200, headers);
    if (isSlow) response.write(film.subarray(from, 40 << 20));
    else response.end(film.subarray(from));
  });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await database.close();
});

let run: SharedRun;
beforeEach(async () => {
  [asked, isSlow, late] = [[], false, []];
  const make = () => ({ video: `${host.url}/a.mp4`, doc: `${host.url}/a.pdf` });
  const write = () => ({ doc: `${host.url}/late.pdf` });
  run = await openSharedRun(database, { functions: { queue: { make, write } } });
  run.folder.manifest([{ id: 'a', endpoint: 'make', input: { n: 1 } }]);
});
afterEach(() => run.close());

const saveOutput = ['output.video', 'output.doc'];
const results = () => run.folder.lines('results.jsonl') as { files: { path: string; sha256: string }[] }[];
const files = () => readdirSync(join(run.folder.out, 'files')).sort();

function expectSaved(): void {
  expect(files()).toEqual(['a.mp4', 'a~2.pdf']);
  const [row] = results();
  for (const [at, bytes] of [film, pdf].entries()) {
    const { path = '', sha256 } = row?.files[at] ?? {};
    expect(readFileSync(join(run.folder.out, path)).equals(bytes)).toBe(true);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
  }
  expect(run.emulator.bill()).toHaveLength(1);
}

describe('files of outputs over a database', () => {
  it('are saved by the collector, where workers do not share the folder', async () => {
    await run.work();
    expect((await run.collect({ saveOutput })).exitCode).toBe(0);
    expectSaved();
  });

  it('are saved by a worker that shares the folder, and downloaded later where more is asked for', async () => {
    await run.work({ artifacts: run.folder.out });
    const first = await run.collect({ saveOutput: saveOutput.slice(0, 1) });
    expect([first.exitCode, files()]).toEqual([0, ['a.mp4']]);
    expect((await run.collect({ saveOutput })).exitCode).toBe(0);
    expect(asked).toEqual([0]);
    expectSaved();
  });

  it('are gone on with by another worker, where one is killed in the middle of a download', async () => {
    const { baseUrl, apiKey } = run.emulator;
    const worker = (): MillraceProcess =>
      startMillrace(['worker', '--db', run.url, '--artifacts', run.folder.out], {
        env: { MILLRACE_BASE_URL: baseUrl, MILLRACE_API_KEY: apiKey },
      });
    isSlow = true;
    const killed = worker();
    const start = run.collect({ saveOutput });
    const folder = join(run.folder.out, 'files');
    await until(() => existsSync(folder) && files().some((name) => name.endsWith('.note')));
    killed.child.kill('SIGKILL');
    await killed.ended;
    isSlow = false;
    const other = worker();
    await other.prints('working for');
    const connected = await connectDatabase({ url: run.url });
    const { rows } = await connected.pool.query<{ worker: string }>(
      'select worker from millrace.workers where pid = $1',
      [killed.child.pid],
    );
    await anHourPasses(
      connected,
      rows.map(({ worker: name }) => name),
    ).finally(() => connected.close());
    const end = await start;
    other.child.kill('SIGTERM');
    await other.ended;
    expect(end.exitCode).toBe(0);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toBeGreaterThanOrEqual(32 << 20);
    expectSaved();
  }, 60_000);

  it('are left to a worker that writes them, when missing files are asked for: the run has to start again first', async () => {
    const manifest = run.folder.manifest([{ id: 'a', endpoint: 'write', input: { n: 1 } }]);
    await run.work({ artifacts: run.folder.out });
    const { baseUrl, apiKey } = run.emulator;
    const env = { MILLRACE_BASE_URL: baseUrl, MILLRACE_API_KEY: apiKey };
    const args = ['run', manifest, '--out', run.folder.out, '--db', run.url, '--save-output', 'output.doc'];
    const killed = startMillrace(args, { env });
    await until(() => late.length === 1);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const refused = await run.call('refetch', 'out');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('continue with --db')]);
    const start = run.collect({ saveOutput: ['output.doc'] });
    // The worker leaves its download to this start.
    await until(() => late.length === 2);
    for (const answer of late) answer();
    expect((await start).exitCode).toBe(0);
    expect(files()).toEqual(['a.pdf']);
    expect(run.emulator.bill()).toHaveLength(1);
  });
});

it('a worker leaves a run to others that asks for what it does not know, and says so', async () => {
  const own = await openRunDatabase();
  const events: WorkerEvent[] = [];
  const terms = { saveSomethingElse: ['output.video'] } as Partial<RunTerms>;
  const fleet = await openFleet(own, rowsOf(1), { terms });
  try {
    await fleet.start({ notify: (event) => events.push(event) });
    await until(() => events.some(({ type }) => type === 'foreign'));
    expect(events.find(({ type }) => type === 'foreign')).toMatchObject({
      message: expect.stringMatching(/newer millrace .*\(saveSomethingElse\): others may do it\.$/) as string,
    });
    expect(fleet.emulator.bill()).toEqual([]);
  } finally {
    await fleet.close();
    await own.close();
  }
});
