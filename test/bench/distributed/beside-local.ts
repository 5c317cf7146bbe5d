import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { figure, ratios, type Figure } from '../figure.js';
import { apiKey, command, openFleet, runToTheEnd, withFolder, writeJobs } from './open-fleet.js';
import { cpuMs, cpuMsOfTree } from './process-cpu.js';

interface Way {
  readonly workers: number;
  readonly inFlight: number;
}

/** What a run of some way took. A row of a local run has no database. */
interface Taken {
  readonly rowsPerSecond: number;
  readonly medianMs: number;
  readonly cpuMs: number;
  readonly databaseMs: number;
  readonly commits: number;
  readonly bytes: number;
  /** With the space of rows that have left. */
  readonly peakBytes: number;
}

const ways = {
  local: { workers: 0, inFlight: 64 },
  one: { workers: 1, inFlight: 64 },
  four: { workers: 4, inFlight: 64 },
  'local wide': { workers: 0, inFlight: 256 },
  'one wide': { workers: 1, inFlight: 256 },
} as const satisfies Record<string, Way>;
type Name = keyof typeof ways;

/** Runs of the same rows, local and over a database, in turn. */
export async function besideLocal(rows: number, rounds: number): Promise<Figure[]> {
  const taken: Record<Name, Taken[]> = { local: [], one: [], four: [], 'local wide': [], 'one wide': [] };
  await withFolder(async (folder) => {
    const manifest = await writeJobs(folder, rows, 20);
    const warmUp = await writeJobs(join(folder, 'warm-up'), 3_200, 20);
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, way] of Object.entries(ways)) {
        const out = join(folder, `${name}-${round}`);
        const took = await measureWay(way, { manifest, warmUp, out, rows });
        taken[name as Name].push(took);
        process.stderr.write(`${name}: ${JSON.stringify(took)}\n`);
      }
    }
  });
  return figuresOf(taken, rows);
}

interface Work {
  readonly manifest: string;
  /** Workers have done these rows before: they are services, and a run is a command. */
  readonly warmUp: string;
  readonly out: string;
  readonly rows: number;
}

async function measureWay(way: Way, work: Work): Promise<Taken> {
  const service = await startService();
  try {
    return way.workers === 0
      ? await runLocal(way, work, service.baseUrl)
      : await runElsewhere(way, work, service.baseUrl);
  } finally {
    service.process.kill();
  }
}

function argumentsOf({ inFlight }: Way, manifest: string, out: string): string[] {
  return [manifest, '--out', out, '--concurrency', String(inFlight)];
}

async function runLocal(way: Way, work: Work, baseUrl: string): Promise<Taken> {
  const cost = await runToTheEnd(argumentsOf(way, work.manifest, work.out), baseUrl);
  return {
    ...(await timesIn(work.out)),
    cpuMs: cost / work.rows,
    databaseMs: 0,
    commits: 0,
    bytes: 0,
    peakBytes: 0,
  };
}

async function runElsewhere(way: Way, work: Work, baseUrl: string): Promise<Taken> {
  const { workers: count } = way;
  const fleet = await openFleet(`${work.out}-database`, { baseUrl, workers: count });
  const { client, postmaster, workers } = fleet;
  try {
    const cpuSoFar = () => ({
      database: cpuMsOfTree(postmaster),
      workers: workers.reduce((sum, { pid = 0 }) => sum + cpuMs(pid), 0),
    });
    const warmUp = ['--limit', String(800 * count)];
    await runToTheEnd(
      [...argumentsOf(way, work.warmUp, `${work.out}-warm-up`), ...warmUp, ...fleet.db],
      baseUrl,
    );
    await client.query('vacuum');
    const bytesBefore = await bytesOfTables(client);
    const commitsBefore = await commitsSoFar(client);
    const before = cpuSoFar();
    const collectorMs = await runToTheEnd(
      [...argumentsOf(way, work.manifest, work.out), ...fleet.db],
      baseUrl,
    );
    const after = cpuSoFar();
    const commits = (await commitsSoFar(client)) - commitsBefore;
    const peakBytes = (await bytesOfTables(client)) - bytesBefore;
    await client.query('vacuum');
    const bytes = (await bytesOfTables(client)) - bytesBefore;
    const databaseMs = after.database - before.database;
    const all = databaseMs + after.workers - before.workers + collectorMs;
    const { rows } = work;
    return {
      ...(await timesIn(work.out)),
      cpuMs: all / rows,
      databaseMs: databaseMs / rows,
      commits: commits / rows,
      bytes: bytes / rows,
      peakBytes: peakBytes / rows,
    };
  } finally {
    await fleet.close();
  }
}

async function commitsSoFar(client: pg.Client): Promise<number> {
  // PostgreSQL reports its counts up to a second late.
  await pause(1_500);
  const { rows } = await client.query<{ commits: number }>(
    'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.commits ?? Number.NaN;
}

async function bytesOfTables(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
     join pg_namespace n on n.oid = relnamespace where nspname like 'millrace%' and relkind = 'r'`,
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** From the first request to the last end, and from a row's first request to its end, by the run's journal. */
async function timesIn(out: string): Promise<Pick<Taken, 'rowsPerSecond' | 'medianMs'>> {
  const sentAt = new Map<string, number>();
  const tookMs: number[] = [];
  let [first, last] = [Infinity, -Infinity];
  for await (const line of createInterface(createReadStream(join(out, 'journal.jsonl')))) {
    const { k, id = '', at = 0 } = JSON.parse(line) as { k?: string; id?: string; at?: number };
    if (k === 'intent' && !sentAt.has(id)) sentAt.set(id, at);
    if (k === 'outcome') tookMs.push(at - (sentAt.get(id) ?? Number.NaN));
    if (k === 'intent') first = Math.min(first, at);
    if (k === 'outcome') last = Math.max(last, at);
  }
  tookMs.sort((one, other) => one - other);
  const medianMs = tookMs[Math.floor(tookMs.length / 2)] ?? Number.NaN;
  return { rowsPerSecond: tookMs.length / ((last - first) / 1_000), medianMs };
}

async function startService(): Promise<{ baseUrl: string; process: ChildProcess }> {
  const args = [command, 'serve', '--workers', '512', '--key', apiKey];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { baseUrl: (JSON.parse(line) as { baseUrl: string }).baseUrl, process: child };
}

function figuresOf(taken: Readonly<Record<Name, readonly Taken[]>>, rows: number): Figure[] {
  const of = (name: Name, what: keyof Taken) => taken[name].map((one) => one[what]);
  const against = (what: keyof Taken, name: Name, other: Name) => ratios(of(name, what), of(other, what));
  return [
    figure(`${rows} jobs of 20 ms, 64 in flight, a local run`, 'rows/s', of('local', 'rowsPerSecond')),
    figure('the same by one worker', 'rows/s', of('one', 'rowsPerSecond')),
    figure('one worker against the local run', '×', against('rowsPerSecond', 'one', 'local'), {
      limit: { atLeast: 0.7 },
    }),
    figure('the same by four workers', 'rows/s', of('four', 'rowsPerSecond')),
    figure('four workers against one', '×', against('rowsPerSecond', 'four', 'one'), {
      limit: { atLeast: 1 },
    }),
    figure('CPU a row of the local run', 'ms CPU', of('local', 'cpuMs')),
    figure('CPU a row of one worker, collector and PostgreSQL', 'ms CPU', of('one', 'cpuMs')),
    figure('the same against the local run', '×', against('cpuMs', 'one', 'local'), { limit: { atMost: 2 } }),
    figure('of it PostgreSQL', 'ms CPU', of('one', 'databaseMs'), { limit: { atMost: 0.7 } }),
    figure('CPU a row of four workers, collector and PostgreSQL', 'ms CPU', of('four', 'cpuMs')),
    figure('commits a row with one worker', 'commits', of('one', 'commits'), { limit: { atMost: 0.3 } }),
    figure('commits a row with four', 'commits', of('four', 'commits'), { limit: { atMost: 0.5 } }),
    figure('from submission to end, 256 in flight, a local run', 'ms', of('local wide', 'medianMs')),
    figure('the same by one worker, 256 in flight', 'ms', of('one wide', 'medianMs')),
    figure('that against the local run', '×', against('medianMs', 'one wide', 'local wide'), {
      limit: { atMost: 1.5 },
    }),
    figure('in the database, a finished row', 'bytes', of('one', 'peakBytes'), { limit: { atMost: 2_400 } }),
    figure('the same once the space of rows that have left is free', 'bytes', of('one', 'bytes')),
  ];
}
