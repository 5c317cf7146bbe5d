import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openServer, type TestServer } from '../../support/database.js';
import { createRandom } from '../../bench/polling/lognormal-run-times.js';
import {
  billOf,
  command,
  compareBooks,
  key,
  startService,
  type KillReport,
  type SentRow,
} from '../kill-rounds.js';

export interface DistributedRounds {
  readonly rows: number;
  readonly workers: number;
  /** A worker is killed with -9 and replaced, again and again: after so many ms, once so many rows have ended meanwhile. */
  readonly killEveryMs: number;
  readonly killEveryRows: number;
  /** Rows in flight over all workers. */
  readonly concurrency: number;
  readonly seed: number;
  /** The dead are taken for dead at once, instead of after their patience. */
  readonly hurry?: boolean;
  /** How long a worker, and the database, stand still. */
  readonly frozenMs: { readonly worker: number; readonly database: number };
  readonly print?: (line: string) => void;
}

export interface DistributedReport extends KillReport {
  readonly collectorKills: number;
  readonly databaseRestarts: number;
  readonly seconds: number;
}

/** What happens besides to the collector, the database and a worker, at which share of the rows. */
const events = [
  { at: 0.1, what: 'frozen worker' },
  { at: 0.2, what: 'collector' },
  { at: 0.35, what: 'frozen database' },
  { at: 0.5, what: 'database' },
  { at: 0.7, what: 'collector' },
] as const;
const reports = {
  collector: 'collector killed',
  database: 'PostgreSQL restarted',
  'frozen worker': 'a worker stands still',
  'frozen database': 'PostgreSQL stands still',
} as const;

/** Workers and a collector as processes on one database, killed again and again; then the books are compared. */
export async function distributedRounds(options: DistributedRounds): Promise<DistributedReport> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-crash-'));
  const service = await startService(options.seed);
  const server = await openServer();
  const fleet = new Fleet(options, server, service.baseUrl, folder);
  try {
    return await fleet.run();
  } finally {
    await fleet.end();
    service.process.kill('SIGTERM');
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

class Fleet {
  private readonly workers: ChildProcess[] = [];
  private collector: ChildProcess | undefined;
  private readonly random;
  private readonly began = Date.now();
  private readonly count = {
    workers: 0,
    collector: 0,
    database: 0,
    'frozen worker': 0,
    'frozen database': 0,
  };
  private thawing: Promise<void> = Promise.resolve();
  private isOver = false;

  constructor(
    private readonly options: DistributedRounds,
    private readonly server: TestServer,
    private readonly baseUrl: string,
    private readonly folder: string,
  ) {
    this.random = createRandom(options.seed);
  }

  async run(): Promise<DistributedReport> {
    const { rows, workers } = this.options;
    const sent = await this.writeManifest(rows);
    for (let n = 0; n < workers; n++) this.workers.push(this.startWorker());
    const killing = this.killWorkers();
    const troubles = this.makeTrouble();
    const exitCode = await this.collectToTheEnd();
    this.isOver = true;
    await Promise.all([killing, troubles]);
    await this.thawing;
    const bill = await billOf(this.baseUrl);
    const report = await compareBooks(sent, this.out, bill, { exitCode, kills: this.count.workers });
    const seconds = Math.round((Date.now() - this.began) / 1_000);
    const { collector: collectorKills, database: databaseRestarts } = this.count;
    return { ...report, collectorKills, databaseRestarts, seconds };
  }

  async end(): Promise<void> {
    this.isOver = true;
    const ends = [...this.workers, this.collector].map(async (child) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    await Promise.all(ends);
  }

  private get out(): string {
    return join(this.folder, 'out');
  }

  private async writeManifest(rows: number): Promise<SentRow[]> {
    const sent = Array.from({ length: rows }, (_, index) => {
      const id = `job-${index + 1}`;
      return { id, endpoint: 'grind', input: { row: id, sleepMs: Math.round(20 + this.random() * 300) } };
    });
    const lines = sent.map((row) => `${JSON.stringify(row)}\n`);
    await writeFile(join(this.folder, 'rows.jsonl'), lines.join(''));
    return sent;
  }

  private async collectToTheEnd(): Promise<number | null> {
    for (;;) {
      this.collector = this.startCollector();
      const [code, signal] = (await once(this.collector, 'close')) as [number | null, string | null];
      // Where the database is away at a start, it is to be started again.
      if (signal !== 'SIGKILL' && code !== 69) return code;
    }
  }

  private async killWorkers(): Promise<void> {
    const { killEveryMs, killEveryRows } = this.options;
    for (let next = killEveryRows; ; next = (await this.ended()) + killEveryRows) {
      await this.rest(killEveryMs * (0.5 + this.random()));
      while (!this.isOver && (await this.ended()) < next) await pause(50);
      if (this.isOver) return;
      const place = Math.floor(this.random() * this.workers.length);
      const victim = this.workers[place];
      if (victim?.pid === undefined) continue;
      victim.kill('SIGKILL');
      this.count.workers++;
      this.workers[place] = this.startWorker();
      this.print(`worker ${victim.pid} killed and replaced; ${await this.ended()} rows have ended`);
      if (this.options.hurry === true) await this.takeForDead(victim.pid);
    }
  }

  private async makeTrouble(): Promise<void> {
    for (const { at, what } of events) {
      while (!this.isOver && (await this.ended()) < at * this.options.rows) await pause(100);
      if (this.isOver) return;
      this.count[what]++;
      this.print(`${reports[what]} at ${await this.ended()} rows`);
      if (what === 'collector') this.collector?.kill('SIGKILL');
      else if (what === 'database') await this.server.restart();
      else if (what === 'frozen database') await this.server.freeze(this.options.frozenMs.database);
      else this.thawing = this.freezeWorker();
    }
  }

  /** It is one more worker until it goes on. */
  private async freezeWorker(): Promise<void> {
    const [frozen] = this.workers;
    if (frozen?.pid === undefined) return;
    frozen.kill('SIGSTOP');
    this.workers[0] = this.startWorker();
    if (this.options.hurry === true) await this.takeForDead(frozen.pid);
    await pause(this.options.frozenMs.worker);
    frozen.kill('SIGCONT');
    this.print(`worker ${frozen.pid} goes on`);
    this.workers.push(frozen);
  }

  /** Rows in the files. */
  private async ended(): Promise<number> {
    const files = ['results.jsonl', 'failures.jsonl'].map((name) =>
      readFile(join(this.out, name), 'utf8').catch(() => ''),
    );
    return (await Promise.all(files)).join('').split('\n').length - 1;
  }

  private async takeForDead(pid: number): Promise<void> {
    const client = new pg.Client({ connectionString: this.server.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(`update millrace.workers set seen_at = seen_at - interval '1 hour' where pid = $1`, [
        pid,
      ]);
    } catch {
      // It is being restarted: their patience ends it then.
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private startWorker(): ChildProcess {
    return this.start(['worker', '--quiet']);
  }

  private startCollector(): ChildProcess {
    const { concurrency } = this.options;
    const flags = ['--concurrency', String(concurrency), '--yes', '--quiet'];
    return this.start(['run', join(this.folder, 'rows.jsonl'), '--out', this.out, ...flags]);
  }

  private start(args: readonly string[]): ChildProcess {
    const env = { ...process.env, MILLRACE_API_KEY: key, MILLRACE_BASE_URL: this.baseUrl };
    const child = spawn(process.execPath, [command, ...args, '--db', this.server.url], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => this.print(`  ${args[0] ?? ''} ${child.pid}: ${text.trimEnd()}`));
    return child;
  }

  private async rest(ms: number): Promise<void> {
    const until = Date.now() + ms;
    while (!this.isOver && Date.now() < until) await pause(50);
  }

  private print(line: string): void {
    this.options.print?.(`${((Date.now() - this.began) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  }
}
