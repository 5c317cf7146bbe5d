import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RowFacts } from '../../../../runners/batch/row/task.js';
import { intentRecord } from '../../../../runners/batch/row/records-of.js';
import type { RowTask } from '../../../../runners/batch/row/row-after.js';
import { csvOf, editSamples } from '../../../support/edit-samples.js';
import { openFleet, type Fleet, type FleetRow } from '../../../support/fleet.js';
import { serveHttp, type LoopbackServer } from '../../../support/loopback-server.js';
import { readRows } from '../../../support/manifest-items.js';
import { openRunDatabase, rowsOf, type RunDatabase } from '../../../support/run-database.js';
import { until } from '../../../support/until.js';

let database: RunDatabase;
let pictures: LoopbackServer;
let picture: Buffer;
let folder: string;
let fleet: Fleet | undefined;
beforeAll(async () => {
  database = await openRunDatabase();
  picture = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#3f6' } })
    .png()
    .toBuffer();
  pictures = await serveHttp((request, response) => {
    if (request.url === '/gone') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
  });
  folder = await mkdtemp(join(tmpdir(), 'millrace-artifacts-'));
});
afterEach(async () => {
  await fleet?.close();
  fleet = undefined;
});
afterAll(async () => {
  await pictures[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  await database.close();
});

function rowWith(id: string, facts: Partial<RowFacts>): RowTask {
  const [row] = rowsOf(1);
  if (row === undefined) throw new Error('no row');
  return { ...row, row: { ...row.row, ...facts, id } };
}

/** A job that was bought elsewhere, an hour ago. */
function elsewhere(jobId: string): RowTask {
  const { row } = rowWith('elsewhere', {});
  const at = Date.now() - 3_600_000;
  const intent = intentRecord(row, { at, attempt: 0, price: 0, takes: 'job', jobId });
  return { what: 'poll', row, jobId, intent, submittedAt: at, attempts: 0 };
}

/** Endings by the id of their rows: the code of a failure, or `completed`. */
function codes(rows: readonly FleetRow[]): Record<string, string> {
  return Object.fromEntries(rows.map(({ id, code }) => [id, code]));
}

const functions = {
  queue: {
    url: () => ({ image_url: `${pictures.url}/picture.png`, cost: 0.25 }),
    gone: () => ({ image_url: `${pictures.url}/gone` }),
    inline: () => ({ image: `data:image/png;base64,${picture.toString('base64')}` }),
  },
};

describe('a worker', () => {
  it('does every kind of row', async () => {
    const post = { kind: 'route', method: 'POST', route: '/echo', body: { a: 1 } } as const;
    const rows = [
      rowWith('async', {}),
      rowWith('sync', { mode: 'sync' }),
      rowWith('failing', { request: { kind: 'job', input: { fail: 'no \u0000 luck' } } }),
      rowWith('post', { kind: 'route', endpoint: '', mode: 'sync', request: post }),
      rowWith('get', {
        kind: 'route',
        endpoint: '',
        mode: 'sync',
        request: { kind: 'route', method: 'GET', route: '/info' },
      }),
      rowWith('lost', {
        kind: 'route',
        endpoint: '',
        mode: 'sync',
        request: { kind: 'route', method: 'GET', route: '/nowhere' },
      }),
      elsewhere('no-such-job'),
    ];
    fleet = await openFleet(database, rows);
    await fleet.start();
    expect(codes(await fleet.ended())).toStrictEqual({
      async: 'completed',
      sync: 'completed',
      failing: 'job-failed',
      post: 'completed',
      get: 'completed',
      lost: 'route-not-found',
      elsewhere: 'expired',
    });
    const { spent, reserved, unknown } = await fleet.state();
    expect({ spent, reserved, unknown }).toStrictEqual({ spent: 200_000, reserved: 0, unknown: 0 });
  });

  it('sends every field of an edit as the manifest has it', async () => {
    const columns = { id: 'edit', kind: 'edit', endpoint: 'url', ...editSamples };
    const [read] = await readRows(csvOf(columns));
    if (read === undefined) throw new Error('no row');
    const { kind, endpoint, mode, request } = read;
    const rows = [rowWith('edit', { kind, endpoint, mode, request })];
    fleet = await openFleet(database, rows, {
      emulator: { functions },
      terms: { endpoints: ['url'], download: false },
    });
    await fleet.start();
    expect(codes(await fleet.ended())).toStrictEqual({ edit: 'completed' });
    expect(fleet.emulator.bill().map(({ input }) => input)).toStrictEqual([editSamples]);
  });

  it('saves pictures into the folder that it shares', async () => {
    const rows = ['url', 'inline', 'gone'].map((endpoint) => rowWith(endpoint, { endpoint }));
    fleet = await openFleet(database, rows, { emulator: { functions }, terms: { retries: 0 } });
    await mkdir(join(folder, 'images'), { recursive: true });
    await fleet.start({ artifacts: folder });
    const ended = await fleet.ended();
    expect(codes(ended)).toStrictEqual({ url: 'completed', inline: 'completed', gone: 'download' });
    expect(await readFile(join(folder, 'images', 'url.png'))).toStrictEqual(picture);
    expect(await readFile(join(folder, 'images', 'inline.png'))).toStrictEqual(picture);
    const urlRow = ended.find(({ id }) => id === 'url')?.outcome;
    expect(urlRow).toMatchObject({ image: { path: 'images/url.png' }, cost: 250_000, source: 'reported' });
  });

  it('leaves the rows of an endpoint that the service does not know', async () => {
    const rows = [
      rowWith('there', {}),
      rowWith('none', { endpoint: 'none' }),
      rowWith('none2', { endpoint: 'none' }),
    ];
    fleet = await openFleet(database, rows, { terms: { endpoints: ['echo', 'none'], concurrency: 2 } });
    await fleet.start();
    expect(codes(await fleet.ended())).toMatchObject({ there: 'completed' });
    expect((await fleet.rows()).flatMap(({ outcome }) => outcome ?? [])).toHaveLength(1);
    expect(await fleet.state()).toMatchObject({
      open: 0,
      inFlight: 0,
      reserved: 0,
      spent: 100_000,
      blocked: { none: expect.stringContaining('404') },
    });
  });

  it('whose key is refused ends, and gives its rows back to one that the service takes', async () => {
    fleet = await openFleet(database, rowsOf(3));
    for (const again of [1, 2]) {
      const worker = await fleet.start({ apiKey: 'another-key' });
      expect([again, await worker.ended]).toEqual([again, 4]);
    }
    const { stop, reserved, open, inFlight, troubles } = await fleet.state();
    expect({ stop, reserved, open, inFlight }).toStrictEqual({
      stop: undefined,
      reserved: 0,
      open: 3,
      inFlight: 0,
    });
    expect(troubles).toMatchObject([{ exitCode: 4 }]);
    await fleet.start();
    expect(codes(await fleet.ended())).toStrictEqual({ r1: 'completed', r2: 'completed', r3: 'completed' });
  });

  it('gives a job up at the deadline of its row, and keeps its price held', async () => {
    const slow = rowsOf(1, { sleepMs: 60_000 });
    fleet = await openFleet(database, slow, { terms: { timeoutMs: 300 } });
    await fleet.start();
    expect(codes(await fleet.ended())).toStrictEqual({ r1: 'deadline' });
    expect(await fleet.state()).toMatchObject({ reserved: 0, spent: 0, unknown: 100_000 });
  });

  it('leaves a run alone that is against another host', async () => {
    fleet = await openFleet(database, rowsOf(1));
    const worker = await fleet.start({ baseUrl: 'http://127.0.0.1:9' });
    await until(() => worker.events.some(({ type }) => type === 'foreign'));
    expect(await fleet.state()).toMatchObject({ open: 1, inFlight: 0 });
  });
});
