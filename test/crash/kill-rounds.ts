import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'csv-parse/sync';
import type { JournalRecord } from '../../runners/batch/journal/record.js';
import { createRandom } from '../bench/polling/lognormal-run-times.js';
import { type AnsweredRow, type FailedRow, wrongAnswers } from '../support/whose-answers.js';
import { killLater } from './kill-later.js';
import { relayCallbacks, type CallbackRelay } from './relay-callbacks.js';

export const command = resolve('dist/runners/cli/main.js');
export const key = 'crash-canary-key-5f1d';
/** A picture of one pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** The picture of a row: no two rows have the same. */
export function pictureOf(row: string): Buffer {
  return Buffer.concat([pixel, Buffer.from(row)]);
}

export interface KillRounds {
  readonly jobs: number;
  readonly edits: number;
  /** How often the run is killed with -9 before it may end. */
  readonly kills: number;
  readonly seed: number;
  /** Bounds of a life, in ms. */
  readonly life: { leastMs: number; mostMs: number };
  /** The service calls back, and has these faults. */
  readonly callbackFaults?: string;
  readonly print?: (line: string) => void;
}

export interface KillReport {
  readonly kills: number;
  readonly exitCode: number | null;
  readonly rows: number;
  readonly completed: number;
  readonly unknown: number;
  /** What is wrong; empty when every promise held. */
  readonly broken: string[];
}

/** A row of the manifest, and what the service is sent for it. */
export interface SentRow {
  readonly id: string;
  readonly endpoint: string;
  readonly input: Record<string, unknown>;
}

interface Purchase {
  readonly id: string;
  readonly endpoint: string;
  readonly input: { row?: string; prompt?: string };
  readonly executions: number;
  readonly costMicroDollars: number;
}

/**
 * One manifest, a service that lives on, a run that is killed again and again; then the books are compared. `atWork`: so
 * many kills surely hit a start that had begun to work. `answers`: of its callbacks, by status.
 */
export async function killRounds(
  options: KillRounds,
): Promise<KillReport & { atWork: number; answers: CallbackRelay['answers'] }> {
  const { kills, seed, life, callbackFaults, print = () => undefined } = options;
  const random = createRandom(seed);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-crash-'));
  const pictures = createServer(({ url = '' }, reply) =>
    reply.setHeader('content-type', 'image/png').end(pictureOf(url.slice(1, -'.png'.length))),
  );
  await once(pictures.listen(0, '127.0.0.1'), 'listening');
  const service = await startService(seed, callbackFaults);
  await using relay = await relayCallbacks();
  const calls = callbackFaults === undefined ? [] : relay.options;
  try {
    const manifest = join(folder, 'rows.jsonl');
    const out = join(folder, 'out');
    const rows = await writeManifest(manifest, options, (pictures.address() as AddressInfo).port, random);
    let killed = 0;
    let atWork = 0;
    let exitCode: number | null = null;
    let stderr = '';
    // Jobs that callbacks have named while a start came to its end are asked for by the next one.
    while (exitCode === null || (await rowsToDo(out)) > 0) {
      const run = startRun(manifest, out, service.baseUrl, calls);
      stderr = '';
      run.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      if (killed < kills) {
        // Every other one is hit where it starts and resumes, the others at work, for half as long.
        const isAtWork = killed % 2 === 1;
        const ms = (life.leastMs + random() * (life.mostMs - life.leastMs)) / (isAtWork ? 2 : 1);
        const span = isAtWork ? { ms, from: join(out, 'journal.jsonl') } : { ms };
        const { code, signal, worked } = await killLater(run, span);
        if (signal === 'SIGKILL') killed += 1;
        else exitCode = code;
        if (signal === 'SIGKILL' && worked) atWork += 1;
        print(
          `start ${killed}: ${signal ?? `exit ${code}`}${worked ? ' at work' : ''}, ${Math.round(ms)} ms`,
        );
      } else [exitCode] = (await once(run, 'exit')) as [number | null];
    }
    const report = await compareBooks(rows, out, await billOf(service.baseUrl), { exitCode, kills: killed });
    // What the last start printed belongs to what is wrong: the folder is gone when somebody reads it.
    if (report.broken.length > 0 && stderr !== '') report.broken.push(stderr);
    return { ...report, atWork, answers: relay.answers };
  } finally {
    service.process.kill('SIGTERM');
    pictures.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function rowsToDo(out: string): Promise<number> {
  const { rows } = JSON.parse(await readFile(join(out, 'summary.json'), 'utf8')) as {
    rows: { toDo: number };
  };
  return rows.toDo;
}

async function writeManifest(path: string, { jobs, edits }: KillRounds, port: number, random: () => number) {
  const rows: SentRow[] = [];
  for (let n = 1; n <= jobs; n += 1) {
    const input = { row: `job-${n}`, sleepMs: Math.round(20 + random() * 300) };
    rows.push({ id: `job-${n}`, endpoint: 'grind', input });
  }
  for (let n = 1; n <= edits; n += 1) {
    const input = { images: [`http://127.0.0.1:${port}/${n}.png`], prompt: `edit-${n}` };
    const row = { id: `edit-${n}`, endpoint: 'paint', input };
    rows.splice(Math.floor(random() * rows.length), 0, row);
  }
  const lines = rows.map(({ id, endpoint, input }) =>
    JSON.stringify(endpoint === 'paint' ? { id, endpoint, ...input } : { id, endpoint, input }),
  );
  await writeFile(path, `${lines.join('\n')}\n`);
  return rows;
}

/** The emulator as a process of its own, with the functions of the rounds. */
export async function startService(
  seed: number,
  faults?: string,
): Promise<{ baseUrl: string; process: ChildProcess }> {
  const functions = resolve('test/crash/functions.mjs');
  const options = [
    'serve',
    '--key',
    key,
    '--workers',
    '16',
    '--seed',
    String(seed),
    '--functions',
    functions,
    ...(faults === undefined ? [] : ['--faults', faults]),
  ];
  const child = spawn(process.execPath, [command, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    return { baseUrl: (JSON.parse(line) as { baseUrl: string }).baseUrl, process: child };
  }
  throw new Error('the emulator did not start');
}

function startRun(manifest: string, out: string, baseUrl: string, more: readonly string[]): ChildProcess {
  const options = [
    'run',
    manifest,
    '--out',
    out,
    '--base-url',
    baseUrl,
    '--concurrency',
    '12',
    '--yes',
    '--quiet',
    ...more,
  ];
  const env = { ...process.env, MILLRACE_API_KEY: key };
  return spawn(process.execPath, [command, ...options], { stdio: ['ignore', 'ignore', 'pipe'], env });
}

export async function billOf(baseUrl: string): Promise<Purchase[]> {
  const reply = await fetch(`${baseUrl}/emulator/bill`, { headers: { authorization: `Bearer ${key}` } });
  return lines(await reply.text()).map((line) => JSON.parse(line) as Purchase);
}

/** Holds what a run's files say against the service's bill, and each answer against its own row. */
export async function compareBooks(
  rows: readonly SentRow[],
  out: string,
  bill: readonly Purchase[],
  { exitCode, kills }: { exitCode: number | null; kills: number },
): Promise<KillReport> {
  const ids = rows.map(({ id }) => id);
  const files = await readFiles(out);
  const { failures } = files;
  const completed = files.results.map(({ id }) => id);
  const broken = [...answersOfOthers(rows, files, bill), ...(await wrongPictures(out, files.results))];
  const unknown = failures.filter(({ error }) => error.code === 'unknown').map(({ id }) => id);
  for (const { id, error } of failures)
    if (error.code !== 'unknown') broken.push(`${id} failed as ${error.code}`);

  const ends = new Map<string, number>();
  for (const id of [...completed, ...failures.map((failure) => failure.id)])
    ends.set(id, (ends.get(id) ?? 0) + 1);
  for (const id of ids) if (ends.get(id) !== 1) broken.push(`${id} ended ${ends.get(id) ?? 0} times`);
  if (ends.size > ids.length) broken.push('there are outcomes of rows that do not exist');

  const bought = new Map<string, Purchase[]>();
  for (const purchase of bill) {
    const id = purchase.input.row ?? purchase.input.prompt ?? '';
    bought.set(id, [...(bought.get(id) ?? []), purchase]);
    if (purchase.executions > 1) broken.push(`${id} was executed ${purchase.executions} times`);
  }
  for (const [id, purchases] of bought)
    if (purchases.length > 1) broken.push(`${id} was bought ${purchases.length} times`);
  for (const id of completed) if (!bought.has(id)) broken.push(`${id} is completed and was never bought`);

  const held = new Set(unknown);
  const billed = bill
    .filter(({ input }) => !held.has(input.row ?? input.prompt ?? ''))
    .reduce((sum, { costMicroDollars }) => sum + costMicroDollars, 0);
  const booked = bookedMicroDollars(files.costs);
  if (billed !== booked)
    broken.push(`the bill less the unknown is ${billed}, costs.csv has ${booked} (millionths of a dollar)`);
  // An exit code speaks of the rows that its start took up: a start that was killed may have held the last of them.
  const allowed = unknown.length > 0 ? [0, 6] : [0];
  if (exitCode === null || !allowed.includes(exitCode))
    broken.push(`exit code ${exitCode}, not ${allowed.join(' or ')}`);
  if ((await readFile(join(out, 'journal.jsonl'), 'utf8')).includes(key))
    broken.push('the key stands in the journal');
  return { kills, exitCode, rows: ids.length, completed: completed.length, unknown: unknown.length, broken };
}

type Files = Awaited<ReturnType<typeof readFiles>>;

async function readFiles(out: string) {
  const parsed = async <T>(name: string): Promise<T[]> =>
    lines(await readFile(join(out, name), 'utf8').catch(() => '')).map((line) => JSON.parse(line) as T);
  return {
    results: await parsed<AnsweredRow & { image?: { path?: string } }>('results.jsonl'),
    failures: await parsed<FailedRow & { error: { code: string } }>('failures.jsonl'),
    journal: await parsed<JournalRecord>('journal.jsonl'),
    costs: parse<Record<string, string>>(await readFile(join(out, 'costs.csv')), { columns: true }),
  };
}

function answersOfOthers(rows: readonly SentRow[], files: Files, bill: readonly Purchase[]): string[] {
  const inputs = new Map(rows.map(({ id, input }) => [id, input]));
  const jobs = new Map(
    bill.map(({ id, endpoint, input }) => [`${endpoint}/${id}`, input.row ?? input.prompt ?? '']),
  );
  return wrongAnswers({
    ...files,
    requestOf: (id) => inputs.get(id),
    rowOfJob: (endpoint, jobId) => jobs.get(`${endpoint}/${jobId}`),
  });
}

async function wrongPictures(out: string, results: Files['results']): Promise<string[]> {
  const broken: string[] = [];
  for (const { id, endpoint, image } of results) {
    if (endpoint !== 'paint') continue;
    const bytes = await readFile(join(out, image?.path ?? '')).catch(() => undefined);
    if (!bytes?.equals(pictureOf(id))) broken.push(`${image?.path} is not the picture of ${id}`);
  }
  return broken;
}

function bookedMicroDollars(costs: Files['costs']): number {
  return costs
    .filter(({ source }) => source === 'reported')
    .reduce((sum, { cost }) => sum + Math.round(Number(cost) * 1_000_000), 0);
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
