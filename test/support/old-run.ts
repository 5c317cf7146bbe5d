import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { defer, type Observable } from 'rxjs';
import { runBatch, type RunBatchOptions } from '../../runners/batch/run-batch.js';
import type { Download, Downloaded } from '../../src/transport/got/download.js';
import { holdRun } from '../../runners/batch/lock/hold-run.js';
import { onePixel, startOtherServer, type OtherServer } from './other-server.js';
import { finished, type Finished } from './run-folder.js';

const fixtures = new URL('../runners/batch/fixtures/v0.1.0/', import.meta.url);
const snapshot = '.journal.snapshot';

/** The folders under `fixtures/v0.1.0`, each with its manifest. The README there says how each was made. */
export const oldRuns = [
  'finished',
  'killed',
  'killed-early',
  'held',
  'settled',
  'redone',
  'snapshot',
  'capped',
] as const;

/** A copy of a folder that 0.1.0 wrote, and a service that knows the jobs it accepted. */
export interface OldRun extends AsyncDisposable {
  readonly out: string;
  readonly service: OtherServer;
  /** What was sent since, by the prompt or the word of its row. */
  readonly sent: () => string[];
  run(options?: Partial<RunBatchOptions>): Promise<Finished>;
  text(name: string): string;
  lines(name: string): Record<string, unknown>[];
}

/** @param acceptedJobs Ids of jobs that 0.1.0 had sent and not seen the end of. */
export async function openOldRun(name: string, acceptedJobs: readonly string[] = []): Promise<OldRun> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-old-'));
  cpSync(fileURLToPath(new URL(name, fixtures)), folder, { recursive: true });
  const out = join(folder, 'run');
  unpackSnapshot(out);
  const manifest = ['manifest.jsonl', 'manifest.csv'].map((file) => join(folder, file)).find(existsSync)!;
  const service = await startOtherServer();
  for (const id of acceptedJobs) service.jobs.set(id, jobOf(id));
  const text = (file: string): string =>
    existsSync(join(out, file)) ? readFileSync(join(out, file), 'utf8') : '';
  return {
    out,
    service,
    text,
    sent: () => service.requests.flatMap(({ method, body }) => (method === 'POST' ? [wordOf(body)] : [])),
    run: (options = {}) =>
      finished(runBatch({ ...optionsOf(out, manifest, service), ...holdIn(folder), ...options })),
    lines: (file) =>
      text(file)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    async [Symbol.asyncDispose]() {
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Each copy is a run of its own, and knows nothing of the others. */
function holdIn(folder: string): Pick<RunBatchOptions, 'hold'> {
  return { hold: (out) => holdRun(out, { stateFolders: [join(folder, 'state')] }) };
}

/** Packed, because its typed arrays are mostly zeros. */
function unpackSnapshot(out: string): void {
  const packed = join(out, `${snapshot}.gz`);
  if (!existsSync(packed)) return;
  writeFileSync(join(out, snapshot), gunzipSync(readFileSync(packed)));
  rmSync(packed);
}

function jobOf(id: string): OtherServer['jobs'] extends Map<string, infer J> ? J : never {
  return { row: id, polls: 0, behaviour: 'complete', sync: false, endpoint: 'echo', input: {} };
}

function optionsOf(out: string, path: string, service: OtherServer): RunBatchOptions {
  const { baseUrl, lbBaseUrl, key } = service;
  return {
    manifest: { path },
    out,
    baseUrl,
    lbBaseUrl,
    apiKey: key,
    saveFrom: saveOnePixel,
    identity: { baseUrl: 'http://127.0.0.1:8100', lbBaseUrl: 'http://127.0.0.1:8100', local: false },
  };
}

function wordOf(body: string): string {
  const { input } = JSON.parse(body) as { input?: { prompt?: string; word?: string } };
  return input?.prompt ?? input?.word ?? '';
}

/** Every picture of the old service. */
export const saveOnePixel: Download = (_request, onChunk): Observable<Downloaded> =>
  defer(async () => {
    await onChunk(onePixel);
    return { status: 200, headers: {}, bytes: onePixel.length };
  });
