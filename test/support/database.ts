import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { joinEmbedded, stopServer } from '../../runners/distributed/embedded/join-embedded.js';
import { serverPid } from '../../runners/distributed/embedded/cluster.js';

/** Tests lose no data that anybody misses, and sync nothing. */
const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
/** Of another PostgreSQL: `npm run test:peers`. */
const native = process.env['MILLRACE_TEST_POSTGRES_NATIVE'];
const options = { settings, ...(native !== undefined && { native }) };

/** An empty database on the PostgreSQL that all test files of a run share. */
export interface TestDatabase {
  readonly url: string;
  /** Drops it; whoever is still connected is cut off. */
  close(): Promise<void>;
}

/** A database on a PostgreSQL of its own, which may be stopped and started. */
export interface TestServer extends TestDatabase {
  stop(): Promise<void>;
  start(): Promise<void>;
  restart(): Promise<void>;
  /** Stands still with all connections open, and goes on. */
  freeze(forMs: number): Promise<void>;
}

export async function openDatabase(): Promise<TestDatabase> {
  const folder = process.env['MILLRACE_TEST_POSTGRES'];
  if (folder === undefined)
    throw new Error('the global setup of the tests did not run: test/support/database-server.ts');
  const server = await joinEmbedded(folder, options);
  const name = `test_${randomBytes(6).toString('hex')}`;
  const onServer = async (statement: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await onServer(`create database ${name}`);
  return {
    url: server.url.replace(/[^/]*$/, name),
    close: async () => {
      await onServer(`drop database ${name} with (force)`);
      // The server stays for the next file: the one who named the folder ends it.
      await server.letGo();
    },
  };
}

export async function openServer(): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-postgres-'));
  await chmod(folder, 0o755);
  const server = await joinEmbedded(folder, options);
  const stop = () => stopServer(server.folder);
  return {
    url: server.url,
    stop,
    start: () => server.ensure(),
    restart: async () => {
      await stop();
      await server.ensure();
    },
    freeze: async (forMs) => {
      const pid = (await serverPid(server.folder)) ?? 0;
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
      const all = [pid, ...children.trim().split(' ').map(Number)].filter((one) => one > 0);
      const signal = (name: NodeJS.Signals) => {
        for (const one of all) if (existsSync(`/proc/${one}`)) process.kill(one, name);
      };
      signal('SIGSTOP');
      await pause(forMs).finally(() => signal('SIGCONT'));
    },
    close: async () => {
      await stop();
      await server.letGo();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
