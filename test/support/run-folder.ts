import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBatch, type RunBatchOptions, type RunEvent } from '../../runners/batch/run-batch.js';
import type { OtherServer } from './other-server.js';

/** A folder with a manifest and a run in it, for tests. */
export interface RunFolder {
  readonly path: string;
  readonly out: string;
  /** Writes the manifest: objects as JSONL, text as CSV. */
  manifest(rows: readonly object[] | string): string;
  /** Runs it to its end. */
  run(
    server: Pick<OtherServer, 'baseUrl' | 'lbBaseUrl' | 'key'>,
    options?: Partial<RunBatchOptions>,
  ): Promise<Finished>;
  lines(name: string): Record<string, unknown>[];
  text(name: string): string;
  costs(): Record<string, string>[];
  /** Every file, by its path. */
  everything(): Map<string, Buffer>;
  remove(): void;
}

export interface Finished {
  readonly exitCode: number;
  readonly reason: string;
  readonly summary: NonNullable<Extract<RunEvent, { type: 'finished' }>['summary']>;
  readonly events: RunEvent[];
}

export function runFolder(): RunFolder {
  const path = mkdtempSync(join(tmpdir(), 'millrace-run-'));
  const out = join(path, 'out');
  let manifestPath = '';
  const text = (name: string): string =>
    existsSync(join(out, name)) ? readFileSync(join(out, name), 'utf8') : '';
  const folder: RunFolder = {
    path,
    out,
    manifest(rows) {
      manifestPath = join(path, typeof rows === 'string' ? 'manifest.csv' : 'manifest.jsonl');
      writeFileSync(
        manifestPath,
        typeof rows === 'string' ? rows : rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      );
      return manifestPath;
    },
    run: (server, options = {}) =>
      finished(
        runBatch({
          manifest: { path: manifestPath },
          out,
          baseUrl: server.baseUrl,
          lbBaseUrl: server.lbBaseUrl,
          apiKey: server.key,
          ...options,
        }),
      ),
    lines: (name) =>
      text(name)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    text,
    costs: () => readCosts(text('costs.csv')),
    everything: () => new Map(filesIn(path).map((name) => [name, readFileSync(name)])),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
  return folder;
}

/** Listens to a run until its end. */
export async function finished(run: AsyncIterable<RunEvent>): Promise<Finished> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  const last = events.at(-1);
  if (last?.type !== 'finished') throw new Error('the run did not finish');
  const { exitCode, reason, summary } = last;
  return { exitCode, reason, summary: summary as Finished['summary'], events };
}

/** Plain cells only: no test here has a comma in one. */
function readCosts(text: string): Record<string, string>[] {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const names = head.split(',');
  return lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, index) => [names[index] ?? '', cell])),
  );
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });
}
