import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { joinEmbedded } from '../../../../runners/distributed/embedded/join-embedded.js';
import { serverPid } from '../../../../runners/distributed/embedded/cluster.js';
import { until } from '../../../support/until.js';

let out: string;

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'millrace-embedded-'));
  await chmod(out, 0o755);
});

afterAll(() => rm(out, { recursive: true, force: true }));

const open = () => joinEmbedded(out, { settings: ['fsync=off'] });

async function ask(url: string, query: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  // A server that is ended under it: the next connection tells.
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ answer: unknown }>(query).finally(() => client.end());
  return rows[0]?.answer;
}

it('is one server for all who join at once, on loopback behind a password', async () => {
  const [one, two, three] = await Promise.all([open(), open(), open()]);
  const { url, folder } = one;
  expect([two.url, three.url]).toEqual([url, url]);
  expect(await ask(url, `select current_setting('listen_addresses') answer`)).toBe('127.0.0.1');
  expect(
    await ask(url, `select setting answer from pg_settings where name = 'unix_socket_directories'`),
  ).toBe('');
  await expect(ask(url.replace(/:[^:@/]+@/, ':wrong@'), 'select 1 answer')).rejects.toThrow('password');
  expect((await stat(join(out, 'database.json'))).mode & 0o777).toBe(0o600);
  await one.leave();
  await two.leave();
  expect(await ask(url, 'select 1 answer')).toBe(1);
  await three.leave();
  await expect(ask(url, 'select 1 answer')).rejects.toThrow('ECONNREFUSED');
  expect(await serverPid(folder)).toBeUndefined();
});

it('keeps what it holds, and its address, from one start to the next', async () => {
  const first = await open();
  await ask(first.url, 'create table kept as select 42 answer');
  await first.leave();
  const second = await open();
  expect(second.url).toBe(first.url);
  expect(await ask(second.url, 'select answer from kept')).toBe(42);
  await second.leave();
});

it('starts again over what a kill -9 of the server leaves', async () => {
  const first = await open();
  const pid = await serverPid(first.folder);
  process.kill(pid!, 'SIGKILL');
  await until(() =>
    ask(first.url, 'select 1 answer').then(
      () => false,
      () => true,
    ),
  );
  const second = await open();
  expect(await ask(second.url, 'select answer from kept')).toBe(42);
  await first.ensure();
  await second.leave();
  expect(await ask(first.url, 'select 1 answer')).toBe(1);
  await first.leave();
  await expect(ask(first.url, 'select 1 answer')).rejects.toThrow('ECONNREFUSED');
});

it('takes a process of another kind for no server, whatever postmaster.pid says', async () => {
  const first = await open();
  const note = join(first.folder, 'data', 'postmaster.pid');
  const text = await readFile(note, 'utf8');
  await first.leave();
  await writeFile(note, text.replace(/^\d+/, String(process.pid)));
  const second = await open();
  expect(await ask(second.url, 'select answer from kept')).toBe(42);
  await second.leave();
});

it('is left at once where it is suspended, and runs on', async () => {
  const joined = await joinEmbedded(out, { settings: ['fsync=off'], answerMs: 500 });
  const pid = (await serverPid(joined.folder)) ?? 0;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const all = [pid, ...children.trim().split(' ').map(Number)];
  for (const one of all) process.kill(one, 'SIGSTOP');
  await joined.leave().finally(() => all.forEach((one) => process.kill(one, 'SIGCONT')));
  expect(await serverPid(joined.folder)).toBe(pid);
  await (await open()).leave();
});
