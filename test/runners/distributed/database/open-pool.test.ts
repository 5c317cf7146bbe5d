import { afterAll, beforeAll, expect, it } from 'vitest';
import { databaseAddress } from '../../../../runners/distributed/database/database-address.js';
import { explainDatabase } from '../../../../runners/distributed/database/database-error.js';
import { openPool, refuseDroppedSettings } from '../../../../runners/distributed/database/open-pool.js';
import { openDatabase, type TestDatabase } from '../../../support/database.js';
import { until } from '../../../support/until.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database.close());

const open = (url: string, env: Record<string, string> = {}) => openPool(databaseAddress(url, env));
const without = (part: RegExp, text = '') => database.url.replace(part, text);

it('connects, and takes no TLS where none is offered and none was asked for', async () => {
  const { pool, isEncrypted } = await open(database.url);
  expect(isEncrypted).toBe(false);
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  const settings = `select current_setting('idle_in_transaction_session_timeout') as silent, current_setting('tcp_keepalives_idle') as idle`;
  expect((await pool.query(settings)).rows).toEqual([{ silent: '5s', idle: '10' }]);
  await pool.end();
});

it('does not depend on settings of the user or the database that would lose commits, or end statements early', async () => {
  const own = await openDatabase();
  const name = new URL(own.url).pathname.slice(1);
  const { pool: before } = await open(own.url);
  const settings: Record<string, string> = {
    synchronous_commit: 'off',
    default_transaction_isolation: 'repeatable read',
    lock_timeout: '1ms',
    statement_timeout: '900ms',
    transaction_timeout: '900ms',
    extra_float_digits: '-15',
  };
  const version = Number(
    (await before.query<{ v: string }>(`select current_setting('server_version_num') as v`)).rows[0]?.v,
  );
  if (version < 170_000) delete settings.transaction_timeout;
  for (const [setting, value] of Object.entries(settings))
    await before.query(`alter database ${name} set ${setting} = '${value}'`);
  await before.end();
  const { pool } = await open(own.url);
  const found = Object.keys(settings).map((setting) => `current_setting('${setting}') as ${setting}`);
  expect((await pool.query(`select ${found.join(', ')}`)).rows).toEqual([
    {
      synchronous_commit: 'on',
      default_transaction_isolation: 'read committed',
      lock_timeout: '0',
      statement_timeout: '0',
      ...(version >= 170_000 && { transaction_timeout: '0' }),
      extra_float_digits: '1',
    },
  ]);
  await pool.end();
  await own.close();
});

it('refuses a pooler that drops the settings of a connection: a crash could lose intents', async () => {
  const { pool } = await openPool(databaseAddress(database.url, {}), { max: 1 });
  await refuseDroppedSettings(pool);
  await pool.query('set synchronous_commit = off');
  const refused = await refuseDroppedSettings(pool).catch((error: unknown) => error);
  expect(explainDatabase(refused, 'of the run')).toMatchObject({
    code: 'database',
    message: expect.stringContaining(
      'a pooler that drops settings of the connection: synchronous_commit is off',
    ) as string,
  });
  await pool.end();
});

it('takes settings from the address, but none that would lose commits or end statements early', async () => {
  const options = '-c synchronous_commit=off -c lock_timeout=1ms -c work_mem=7MB';
  const own = 'statement_timeout=900&idle_in_transaction_session_timeout=60000';
  const { pool } = await open(`${database.url}?${own}&options=${encodeURIComponent(options)}`);
  // It takes settings that do not come through for those of a pooler.
  await refuseDroppedSettings(pool);
  const names = [
    'synchronous_commit',
    'lock_timeout',
    'statement_timeout',
    'tcp_keepalives_idle',
    'work_mem',
  ];
  const { rows } = await pool.query(
    `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`,
  );
  expect(rows).toEqual([
    {
      synchronous_commit: 'on',
      lock_timeout: '0',
      statement_timeout: '0',
      tcp_keepalives_idle: '10',
      work_mem: '7MB',
    },
  ]);
  await pool.end();
});

it('names what is wrong and what to do, without the password', async () => {
  const password = new URL(database.url).password;
  const printed = (promise: Promise<unknown>) =>
    promise.then(String, (error: unknown) => (error as Error).message);
  const wrong = await printed(open(without(/:[^:@/]+@/, ':wrong-secret@')));
  expect(wrong).toContain('refuses the user or the password');
  expect(wrong).not.toContain('wrong-secret');
  const none = await printed(open(without(/:[^:@/]+@/, '@'), { PGPASSFILE: '/nowhere' }));
  expect(none).toContain('needs a password, and none was given: set PGPASSWORD');
  expect(await printed(open(without(/[^/]*$/, 'nowhere')))).toContain('database "nowhere" does not exist');
  const tls = await printed(open(`${database.url}?sslmode=require`));
  expect(tls).toContain('offers no TLS, and PGSSLMODE asks for it');
  for (const text of [none, tls]) expect(text).not.toContain(password);
});

it('tells a database that is away from one that will not do', async () => {
  await expect(open('postgres://127.0.0.1:1/jobs')).rejects.toMatchObject({ code: 'database-away' });
  await expect(open('postgres://nowhere.invalid/jobs')).rejects.toMatchObject({ code: 'database-away' });
  await expect(open(without(/[^/]*$/, 'nowhere'))).rejects.toMatchObject({ code: 'database' });
});

it('leaves no connection behind where no password was given', async () => {
  await expect(open(without(/:[^:@/]+@/, '@'), { PGPASSFILE: '/nowhere' })).rejects.toThrow('PGPASSWORD');
  const { pool } = await open(database.url);
  const waiting = `select from pg_stat_activity where backend_type = 'client backend' and state = 'starting'`;
  await until(async () => (await pool.query(waiting)).rowCount === 0);
  await pool.end();
});
