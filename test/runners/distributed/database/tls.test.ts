import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { databaseAddress } from '../../../../runners/distributed/database/database-address.js';
import { openPool } from '../../../../runners/distributed/database/open-pool.js';
import {
  authority,
  expired,
  otherHost,
  selfSigned,
  serverKey,
  trusted,
} from '../../../support/certificates.js';
import { openServer, type TestServer } from '../../../support/database.js';
import { startMillrace } from '../../../support/millrace.js';
import { until } from '../../../support/until.js';

let server: TestServer;
let admin: pg.Pool;
let folder: string;
let password: string;
/** Without its password, by the name that the certificate is for. */
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-tls-'));
  server = await openServer();
  admin = new pg.Pool({ connectionString: server.url, max: 1 });
  // Its server is stopped.
  admin.on('error', () => undefined);
  ({ password } = new URL(server.url));
  url = server.url.replace(`:${password}@`, '@').replace('127.0.0.1', 'localhost');
  await writeFile(join(folder, 'authority.crt'), authority);
  await writeFile(join(folder, 'other.crt'), selfSigned);
  await writeFile(join(folder, 'pgpass'), `localhost:*:*:millrace:${password}\n`, { mode: 0o600 });
  await serve(trusted);
});

const children: { kill(signal: 'SIGKILL'): unknown }[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await admin.end();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** The server shows this certificate to whoever comes from now on. */
async function serve(certificate: string): Promise<void> {
  const { rows } = await admin.query<{ path: string }>(`select current_setting('data_directory') as path`);
  const data = rows[0]?.path ?? '';
  const { uid, gid } = await stat(data);
  for (const [name, text] of [
    ['server.crt', certificate],
    ['server.key', serverKey],
  ] as const) {
    await writeFile(join(data, name), text, { mode: 0o600 });
    await chown(join(data, name), uid, gid);
  }
  const loaded = async () =>
    (await admin.query<{ at: string }>('select pg_conf_load_time()::text as at')).rows[0]?.at;
  const before = await loaded();
  await admin.query('alter system set ssl = on');
  await admin.query('select pg_reload_conf()');
  await until(async () => (await loaded()) !== before);
}

/** Whether what is said is encrypted, as the server has it. */
async function connect(env: Record<string, string>): Promise<boolean | undefined> {
  for (const [name, value] of Object.entries({ PGPASSWORD: password, ...env })) vi.stubEnv(name, value);
  const { pool, isEncrypted } = await openPool(databaseAddress(url, process.env));
  try {
    const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    expect((await pool.query<{ ssl: boolean }>(text)).rows).toEqual([{ ssl: isEncrypted }]);
    return isEncrypted;
  } finally {
    await pool.end();
  }
}

const root = (name: string) => ({ PGSSLROOTCERT: join(folder, name) });

it('is taken where it is offered, and checked where that is asked for', async () => {
  expect(await connect({})).toBe(true);
  expect(await connect({ PGSSLMODE: 'disable' })).toBe(false);
  expect(await connect({ PGSSLMODE: 'require' })).toBe(true);
  expect(await connect({ PGSSLMODE: 'verify-full', ...root('authority.crt') })).toBe(true);
});

it('is refused where nobody vouches for the certificate', async () => {
  for (const mode of ['require', 'verify-ca', 'verify-full'])
    await expect(connect({ PGSSLMODE: mode, ...root('other.crt') })).rejects.toMatchObject({
      code: 'database',
      message: expect.stringContaining('has a certificate that PGSSLROOTCERT does not confirm'),
    });
});

it('is refused where the certificate is for another name, or past', async () => {
  const checked = { PGSSLMODE: 'verify-full', ...root('authority.crt') };
  await serve(otherHost);
  expect(await connect({ ...checked, PGSSLMODE: 'verify-ca' })).toBe(true);
  await expect(connect(checked)).rejects.toThrow('has a certificate for another name');
  await serve(expired);
  await expect(connect(checked)).rejects.toThrow('has a certificate that has expired');
  await serve(trusted);
});

it('and the password come to a worker by the usual environment', async () => {
  const env = {
    PGSSLMODE: 'verify-full',
    ...root('authority.crt'),
    MILLRACE_BASE_URL: 'http://127.0.0.1:1',
    MILLRACE_API_KEY: 'k',
  };
  const start = (more: Record<string, string>) => {
    const started = startMillrace(['worker', '--db', url], { env: { ...env, ...more } });
    children.push(started.child);
    return started;
  };
  const workers = [start({ PGPASSFILE: join(folder, 'pgpass') }), start({ PGPASSWORD: password })];
  const refused = [
    start({ PGPASSWORD: 'a-wrong-password' }),
    start({ PGPASSWORD: password, ...root('other.crt') }),
  ];
  for (const worker of workers) {
    await worker.prints('working for');
    worker.child.kill('SIGTERM');
    const { code, stderr } = await worker.ended;
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('not encrypted')]);
  }
  const [wrong, unknown] = await Promise.all(refused.map(({ ended }) => ended));
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('refuses the user or the password'),
  });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('does not confirm') });
  const printed = `${wrong?.stderr}${unknown?.stderr}`;
  for (const secret of ['a-wrong-password', password]) expect(printed).not.toContain(secret);
}, 60_000);
