import { DatabaseError } from './database-error.js';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';

type Environment = Readonly<Record<string, string | undefined>>;

export interface DatabaseAddress {
  /** Without parameters about TLS; may contain the password. */
  readonly url: string;
  /** The address for messages and files, with the parameters about TLS but without the password. */
  readonly shown: string;
  readonly tls: TlsWish;
  /** Texts to be masked in all output. */
  readonly secrets: readonly string[];
}

const tlsParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'ssl'];
const mask = '***';

/**
 * Reads `postgres://user@host:port/database`. What the address leaves out comes from libpq's environment: PGHOST, PGPORT,
 * PGUSER, PGDATABASE, PGPASSWORD or ~/.pgpass, PGSSLMODE, PGSSLROOTCERT, PGSSLCERT, PGSSLKEY.
 *
 * @throws {DatabaseError} `database` for any other text.
 */
export function databaseAddress(text: string, env: Environment): DatabaseAddress {
  const url = parsed(text);
  const tls = tlsWishOf(url.searchParams, env);
  const { password: inUrl } = url;
  const inQuery = url.searchParams.get('password') ?? '';
  const shown = new URL(url);
  if (inUrl !== '') shown.password = mask;
  shown.searchParams.delete('password');
  for (const name of tlsParameters) url.searchParams.delete(name);
  const secrets = [decoded(inUrl), inUrl, inQuery, env['PGPASSWORD'] ?? ''].filter((one) => one !== '');
  return { url: url.href, shown: shown.href, tls, secrets: [...new Set(secrets)] };
}

/** The message does not repeat the text, which may contain a password. */
function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['postgres:', 'postgresql:'].includes(url.protocol)) return url;
  const advice = 'it is `embedded`, or looks like postgres://user@host:5432/database';
  const hint = text.includes('@')
    ? '; a password with special characters is written percent-encoded, or left to PGPASSWORD'
    : '';
  throw new DatabaseError('database', `--db: this is not an address of a database: ${advice}${hint}`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Ways to connect, to be tried in this order; `false`: without TLS. */
export type TlsWish = readonly (ConnectionOptions | false)[];

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];

/**
 * Reads sslmode, sslrootcert, sslcert and sslkey as libpq does: from the address, or PGSSLMODE and the like, or ~/.postgresql.
 * By default TLS is used if the server offers it; only `verify-ca`, `verify-full` or a root certificate check the server.
 *
 * @throws {DatabaseError} for an unknown mode, or a certificate that cannot be read.
 */
export function tlsWishOf(parameters: URLSearchParams, env: Environment): TlsWish {
  const given = (name: string) => parameters.get(name) ?? (env[`PG${name.toUpperCase()}`] || undefined);
  const mode = modeOf(given('sslmode') ?? 'prefer');
  if (mode === 'disable') return [false];
  const options = {
    ...rootOf(given('sslrootcert'), mode),
    ...clientOf(given('sslcert'), given('sslkey')),
  };
  if (mode === 'allow') return [false, options];
  return mode === 'prefer' ? [options, false] : [options];
}

function modeOf(text: string): Mode {
  const mode = modes.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw new DatabaseError('database', `sslmode: "${text}" is not one of ${modes.join(', ')}`);
}

/** With a root certificate `require` checks the chain as well, as libpq does. */
function rootOf(named: string | undefined, mode: Mode): ConnectionOptions {
  if (named === 'system') return {};
  const path = named ?? join(homedir(), '.postgresql', 'root.crt');
  const isThere = named !== undefined || existsSync(path);
  const isChecked = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && isThere);
  if (!isChecked) return { rejectUnauthorized: false };
  if (!isThere) {
    const message = `sslmode=${mode} needs the root certificate that signed the server's: name it with PGSSLROOTCERT, or put it at ${path} (PGSSLROOTCERT=system takes the system's)`;
    throw new DatabaseError('database', message);
  }
  const ca = textOf(path, 'PGSSLROOTCERT');
  return mode === 'verify-full' ? { ca } : { ca, checkServerIdentity: () => undefined };
}

function clientOf(cert: string | undefined, key: string | undefined): ConnectionOptions {
  const certPath = cert ?? join(homedir(), '.postgresql', 'postgresql.crt');
  if (cert === undefined && !existsSync(certPath)) return {};
  const keyPath = key ?? join(homedir(), '.postgresql', 'postgresql.key');
  return { cert: textOf(certPath, 'PGSSLCERT'), key: textOf(keyPath, 'PGSSLKEY') };
}

function textOf(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new DatabaseError('database', `${name}: ${path} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
